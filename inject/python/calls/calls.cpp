#include "calls.h"

#include <atomic>
#include <string>

#include "marks.h"
#include "profshim/base/clock.h"
#include "profshim/python/stack.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::python {
namespace {

constexpr std::uint32_t kFirst = 0x030a, kMonitoring = 0x030c;  // versions
constexpr std::int64_t kThreadCheckEvery_ns = 50'000'000;

constinit std::atomic<bool> is_wanted{false};
constinit std::atomic<bool> must_ask{false};  // a request that could not be made yet
constinit std::atomic<bool> is_refused{false};

// Guarded by the GIL.
constinit bool is_prepared = false, is_on = false;

void refuse(const std::string& reason) {
  is_refused = true;
  const std::string sentence = "Python calls are not recorded: " + reason;
  log::line(LogLevel::kWarn, "%s", sentence.c_str());
  recorder::missing("python", sentence);
}

bool has_monitoring() { return api().version >= kMonitoring; }

bool prepare() {
  std::string why_not;
  if (!python_stack::prepare(why_not)) {
    refuse(why_not);
    return false;
  }
  const char* reason = calls::prepare_functions();
  if (reason == nullptr) reason = has_monitoring() ? calls::prepare_monitoring() : calls::prepare_profile();
  if (reason != nullptr) refuse(reason);
  return reason == nullptr;
}

/// Runs with the GIL, with no exception set, and between two instructions or in a hook.
int follow(void*) {
  if (is_refused || recorder::mode() == 0) return 0;
  const bool wanted = is_wanted;
  if (wanted && !is_prepared && !(is_prepared = prepare())) return 0;
  const bool changes = wanted != is_on;
  if (changes && wanted) {
    calls::read_search_path();
    calls::begin_recording();
  }
  if (!has_monitoring()) {
    if (changes || wanted) calls::switch_profile(wanted);  // also for new threads
  } else if (changes && !calls::switch_monitoring(wanted)) {
    refuse("sys.monitoring refused the events");
    return 0;
  }
  is_on = wanted;
  return 0;
}

void follow_here() {
  Object *type = nullptr, *value = nullptr, *traceback = nullptr;
  api().take_error(&type, &value, &traceback);
  follow(nullptr);
  api().set_error(type, value, traceback);
}

/// Python's main thread follows at its next instruction, which may come late if it waits in C.
void ask() {
  must_ask = false;
  if (is_refused) return;
  if (!find_api() || api().add_pending_call == nullptr || api().take_error == nullptr || api().set_error == nullptr) {
    must_ask = true;
    return;
  }
  if (api().version < kFirst) return refuse("Python 3.10 or later is needed");
  if (has_gil()) return follow_here();
  if (api().is_initialized() == 0 || api().add_pending_call(follow, nullptr) != 0) must_ask = true;
}

void on_arming(bool armed) {
  const bool wanted = armed && !session::only_searches();
  if (is_wanted.exchange(wanted) != wanted) ask();
}

/// Collector thread.
void tick() {
  static constinit std::int64_t last_check_ns = 0;
  if (must_ask) ask();
  if (!is_wanted || is_refused || must_ask) return;
  const std::int64_t now = monotonic_ns();
  if (now - last_check_ns < kThreadCheckEvery_ns || has_monitoring()) return;
  last_check_ns = now;
  ask();
}

}  // namespace

void record_calls() {
  const Spec* const spec = session::spec();  // null: a signal has ended the recording meanwhile
  if (spec == nullptr || !spec->python_calls) return;
  session::call_when_arming(on_arming);
  session::call_every_tick(tick);
  on_arming(recorder::mode_has(recorder::kArmed));
}

void leave_parent() { calls::forget_thread(); }

}  // namespace profshim::python
