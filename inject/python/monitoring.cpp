#include "monitoring.h"

#include <iterator>
#include <mutex>
#include <unordered_map>

#include "matches.h"
#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"

namespace profshim::python {
namespace {

/// A reference that this scope owns.
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {}
  ~Owned() {
    if (object_ != nullptr) api().drop_reference(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() const { return object_; }
  Object* release() {
    Object* const object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  Object* object_;
};

Object* reference_to(Object* object) {
  api().add_reference(object);
  return object;
}

constinit Object *monitoring = nullptr, *disable = nullptr;
constinit int tool = -1;
constinit long events_of_match = 0;  // those that sys.monitoring can switch on for one code object

std::mutex& matches_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
/// Holds a reference to each code object.
std::unordered_map<Object*, const Match*>& matches() {
  static auto* const all = new std::unordered_map<Object*, const Match*>;
  return *all;
}

const Match* known_match(Object* code) {
  const std::lock_guard lock(matches_mutex());
  const auto at = matches().find(code);
  return at != matches().end() ? at->second : nullptr;
}

void remember(Object* code, const Match* match) {
  {
    const std::lock_guard lock(matches_mutex());
    if (!matches().emplace(code, match).second) return;
  }
  api().add_reference(code);
  Owned(api().call_method(monitoring, "set_local_events", "iOl", tool, code, events_of_match));
  api().clear_error();
}

/// Generators and coroutines whose phase has begun: weak references to them, by address. Python 3.13 closes a suspended
/// generator without an event, and then its weak reference tells the end. Guarded by matches_mutex().
struct Going {
  Object* weak;
  const Match* match;
};
std::unordered_map<Object*, Going>& going() {
  static auto* const all = new std::unordered_map<Object*, Going>;
  return *all;
}

/// Returns an address, not a reference; null if the current frame belongs to no generator or coroutine.
Object* current_generator() {
  Object* const frame = api().get_frame();
  Object* const generator = frame != nullptr ? api().get_generator(frame) : nullptr;
  if (generator != nullptr) api().drop_reference(generator);  // the interpreter has another
  return generator;
}

Object* on_death(Object*, Object* const* arguments, std::intptr_t) {
  const Match* match = nullptr;
  {
    const std::lock_guard lock(matches_mutex());
    for (auto at = going().begin(); at != going().end(); ++at) {
      if (at->second.weak != arguments[0]) continue;
      match = at->second.match;
      going().erase(at);
      break;
    }
  }
  if (match != nullptr) {
    phase_ranges::end(nullptr, match->phases);
    api().drop_reference(arguments[0]);
  }
  return reference_to(api().none);
}
constinit MethodDef death_handler = {"profshim_death", on_death, kFastCall, nullptr};

void note_going(const Match* match) {
  Object* const generator = current_generator();
  if (generator == nullptr) return;
  static Object* const callback = api().make_function(&death_handler, nullptr, nullptr);
  Object* const weak = api().make_weak_reference(generator, callback);
  if (weak == nullptr) return api().clear_error();
  const std::lock_guard lock(matches_mutex());
  going()[generator] = {weak, match};
}

void note_gone() {
  Object* const generator = current_generator();
  Object* weak = nullptr;
  {
    const std::lock_guard lock(matches_mutex());
    const auto at = going().find(generator);
    if (at == going().end()) return;
    weak = at->second.weak;
    going().erase(at);
  }
  api().drop_reference(weak);
}

// The arguments of all events begin with the code object.

Object* on_start(Object*, Object* const* arguments, std::intptr_t) {
  Object* const code = arguments[0];
  const Match* match = known_match(code);
  if (match == nullptr) {
    match = find_match(code, api().get_globals());
    if (match == nullptr) return reference_to(disable);
    remember(code, match);
  }
  if (recorder::mode() == 0) return reference_to(api().none);
  if (match->gives_way) note_going(match);
  phase_ranges::begin(match->phases, match->name);
  return reference_to(api().none);
}

Object* on_end(Object*, Object* const* arguments, std::intptr_t) {
  const Match* const match = known_match(arguments[0]);
  if (match == nullptr || recorder::mode() == 0) return reference_to(api().none);
  if (match->gives_way) note_gone();
  phase_ranges::end(phase_ranges::find_open(match->phases, match->name), match->phases);
  return reference_to(api().none);
}

Object* on_yield(Object*, Object* const* arguments, std::intptr_t) {
  if (const Match* const match = known_match(arguments[0]))
    phase_ranges::suspend(phase_ranges::find_open(match->phases, match->name));
  return reference_to(api().none);
}

Object* on_resume(Object*, Object* const* arguments, std::intptr_t) {
  const Match* const match = known_match(arguments[0]);
  if (match != nullptr && recorder::mode() != 0) phase_ranges::resume(match->phases, match->name);
  return reference_to(api().none);
}

struct Handler {
  const char* event;
  MethodDef function;
  bool is_local;  // can be switched on for one code object
};
constinit Handler handlers[] = {
    {"PY_START", {"profshim_start", on_start, kFastCall, nullptr}, true},
    {"PY_RETURN", {"profshim_return", on_end, kFastCall, nullptr}, true},
    {"PY_YIELD", {"profshim_yield", on_yield, kFastCall, nullptr}, true},
    {"PY_RESUME", {"profshim_resume", on_resume, kFastCall, nullptr}, true},
    {"PY_UNWIND", {"profshim_unwind", on_end, kFastCall, nullptr}, false},
    {"PY_THROW", {"profshim_throw", on_resume, kFastCall, nullptr}, false},
};

long event_bit(const char* name) {
  const Owned events(api().get_attribute(monitoring, "events"));
  const Owned bit(events.get() != nullptr ? api().get_attribute(events.get(), name) : nullptr);
  return bit.get() != nullptr ? api().integer(bit.get()) : 0;
}

/// The numbers 0, 1, 2 and 5 are for debuggers, coverage tools, profilers and optimizers.
bool take_tool() {
  for (const int number : {4, 3}) {
    const Owned taken(api().call_method(monitoring, "use_tool_id", "is", number, "profshim"));
    api().clear_error();
    if (taken.get() == nullptr) continue;
    tool = number;
    return true;
  }
  return false;
}

bool is_done(Object* result) {
  const Owned owned(result);
  const bool done = result != nullptr;
  api().clear_error();
  return done;
}

}  // namespace

const char* install_monitoring() {
  const Owned sys(api().import("sys"));
  Owned module(sys.get() != nullptr ? api().get_attribute(sys.get(), "monitoring") : nullptr);
  if (module.get() == nullptr) return "this Python has no sys.monitoring";
  monitoring = module.release();
  disable = api().get_attribute(monitoring, "DISABLE");
  if (disable == nullptr || api().none == nullptr) return "sys.monitoring is not as its reference says";
  if (!take_tool()) return "other tools use the numbers 3 and 4 of sys.monitoring";
  long wanted = 0;
  for (Handler& handler : handlers) {
    const long bit = event_bit(handler.event);
    const Owned function(api().make_function(&handler.function, nullptr, nullptr));
    if (bit == 0 || function.get() == nullptr ||
        !is_done(api().call_method(monitoring, "register_callback", "ilO", tool, bit, function.get()))) {
      return "sys.monitoring refused a callback";
    }
    if (handler.is_local) events_of_match |= bit;
    if (!handler.is_local || &handler == std::begin(handlers)) wanted |= bit;
  }
  return is_done(api().call_method(monitoring, "set_events", "il", tool, wanted)) ? nullptr
                                                                                  : "sys.monitoring refused the events";
}

}  // namespace profshim::python
