#include "matches.h"

#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::python {
namespace {

/// Returns the type of an object, or a type itself. Looks up no attribute of the object: that may run the job's code.
Object* class_or_self(Object* object) {
  constexpr unsigned long kIsType = 1UL << 31;  // Py_TPFLAGS_TYPE_SUBCLASS
  Object* const type = type_of(object);
  return (api().type_flags(type) & kIsType) != 0 ? object : type;
}

/// Returns the class that defines the method `name` with this code: "Trainer", or "" if there is none.
std::string class_of(Object* code, const std::string& name, Object* self) {
  if (number_of(code, "co_argcount") == 0) return "";  // `self` is no argument
  Object* const mro = api().get_attribute(class_or_self(self), "__mro__");
  std::string found;
  const std::intptr_t classes = mro != nullptr ? api().tuple_size(mro) : 0;
  for (std::intptr_t i = 0; i < classes; ++i) {  // the last class that has it is not an heir
    Object* const one = api().tuple_item(mro, i);
    Object* const method = api().get_attribute(one, name.c_str());
    Object* const own_code = method != nullptr ? api().get_attribute(method, "__code__") : nullptr;
    if (own_code == code) found = text_of(one, "__qualname__");
    for (Object* const object : {own_code, method}) {
      if (object != nullptr) api().drop_reference(object);
    }
    api().clear_error();
  }
  if (mro != nullptr) api().drop_reference(mro);
  api().clear_error();
  return found;
}

std::string qualified_name(Object* code, Object* self) {
  const std::string qualified = text_of(code, "co_qualname");  // since 3.11
  if (!qualified.empty()) return qualified;
  const std::string name = text_of(code, "co_name");
  const std::string type = self != nullptr ? class_of(code, name, self) : "";
  return type.empty() ? name : type + "." + name;
}

std::string module_of(Object* globals) {
  Object* const name = globals != nullptr ? api().get_item(globals, "__name__") : nullptr;
  const char* const text = name != nullptr ? api().text(name) : nullptr;
  api().clear_error();
  return text != nullptr ? text : "";
}

/// Without the functions around it: "rollout" for "main.<locals>.rollout".
std::string_view without_outer_functions(std::string_view name) {
  constexpr std::string_view kLocals = "<locals>.";
  const std::size_t at = name.rfind(kLocals);
  return at == std::string_view::npos ? name : name.substr(at + kLocals.size());
}

}  // namespace

const Match* find_match(Object* code, Object* globals, Object* self) {
  constexpr long kGivesWay = 0x20 | 0x80 | 0x200;  // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
  const std::string qualified = qualified_name(code, self);
  const std::string_view name = without_outer_functions(qualified);
  const std::string with_module = module_of(globals) + "." + std::string(name);
  const std::uint64_t phases =
      session::phases_of(name, PhaseSource::kPython) | session::phases_of(with_module, PhaseSource::kPython);
  if (phases == 0) return nullptr;

  static std::mutex mutex;
  static auto* const matches = new std::deque<Match>;
  const std::lock_guard lock(mutex);
  log::line(LogLevel::kInfo, "phases: calls of the Python function %s (%s:%ld)", with_module.c_str(),
            text_of(code, "co_filename").c_str(), number_of(code, "co_firstlineno"));
  return &matches->emplace_back(Match{phases, recorder::intern(name), (number_of(code, "co_flags") & kGivesWay) != 0});
}

}  // namespace profshim::python
