#include <iterator>
#include <mutex>
#include <unordered_map>

#include "functions.h"
#include "matches.h"
#include "monitoring_tool.h"
#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"

namespace profshim::python {
namespace {

constinit MonitoringTool tool;
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
  tool.set_local_events(code, events_of_match);
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
  return tool.none();
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
    if (match == nullptr) return tool.disable();
    remember(code, match);
  }
  if (recorder::mode() == 0) return tool.none();
  if (match->gives_way) note_going(match);
  phase_ranges::begin(match->phases, match->name);
  return tool.none();
}

Object* on_end(Object*, Object* const* arguments, std::intptr_t) {
  const Match* const match = known_match(arguments[0]);
  if (match == nullptr || recorder::mode() == 0) return tool.none();
  if (match->gives_way) note_gone();
  phase_ranges::end(phase_ranges::find_open(match->phases, match->name), match->phases);
  return tool.none();
}

Object* on_yield(Object*, Object* const* arguments, std::intptr_t) {
  if (const Match* const match = known_match(arguments[0]))
    phase_ranges::suspend(phase_ranges::find_open(match->phases, match->name));
  return tool.none();
}

Object* on_resume(Object*, Object* const* arguments, std::intptr_t) {
  const Match* const match = known_match(arguments[0]);
  if (match != nullptr && recorder::mode() != 0) phase_ranges::resume(match->phases, match->name);
  return tool.none();
}

constinit MonitoringTool::Handler handlers[] = {
    {"PY_START", {"profshim_start", on_start, kFastCall, nullptr}},
    {"PY_RETURN", {"profshim_return", on_end, kFastCall, nullptr}},
    {"PY_YIELD", {"profshim_yield", on_yield, kFastCall, nullptr}},
    {"PY_RESUME", {"profshim_resume", on_resume, kFastCall, nullptr}},
    {"PY_UNWIND", {"profshim_unwind", on_end, kFastCall, nullptr}},
    {"PY_THROW", {"profshim_throw", on_resume, kFastCall, nullptr}},
};

constinit bool is_local[] = {true, true, true, true, false, false};  // can be switched on for one code object
static_assert(std::size(handlers) == std::size(is_local));

}  // namespace

const char* install_monitoring() {
  if (const char* const why_not = tool.take(handlers)) return why_not;
  long wanted = handlers[0].bit;
  for (std::size_t i = 0; i < std::size(handlers); ++i) (is_local[i] ? events_of_match : wanted) |= handlers[i].bit;
  return tool.set_events(wanted) ? nullptr : "sys.monitoring refused the events";
}

}  // namespace profshim::python
