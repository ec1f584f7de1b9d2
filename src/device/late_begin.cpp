#include "late_begin.h"

#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

// `gpu_recorded_after_us`: how late CUPTI was.
void tell_late_begin(Source& source) {
  const bool on = source.capture.state() == Capture::State::kOn;
  if (!on && shared.wanted_on.load(std::memory_order_acquire)) return;
  const std::int64_t since_ns = shared.late_since_ns.exchange(0);
  if (since_ns == 0) return;
  // One number for each window that began so, in their order; null where the window was over before.
  constexpr std::size_t kMostText = 1000;
  if (source.late_begins.size() < kMostText) {
    source.late_begins += (source.late_begins.empty() ? "" : ", ") +
                          (on ? std::to_string((monotonic_ns() - since_ns) / 1000) : std::string("null"));
  }
  say_fact("gpu_recorded_after_us", "[" + source.late_begins + "]");
}

// The process had a window open when CUDA came up.
void note_work_before_start() {
  const std::int64_t open_ns = shared.open_since_ns.exchange(0);
  if (open_ns == 0) return;
  const FirstCall seen = shared.first_call.load();
  const bool may_miss = seen == FirstCall::kNotHeld || (seen == FirstCall::kNotSeen && a_context_exists());
  if (!may_miss) return;
  say_late_begin();
  shared.late_since_ns.store(open_ns);
}

}  // namespace

void say_late_begin() {
  recorder::problem("cupti",
                    "CUPTI was switched on after a window had begun: the GPU activity before that is missing "
                    "(schedule.warmup switches it on earlier)");
}

void note_late_begins(Source& source, bool was_on, std::int64_t began_ns) {
  if (began_ns != 0 && !was_on) {
    say_late_begin();
    shared.late_since_ns.store(began_ns);
  }
  if (source.capture.state() == Capture::State::kOn) note_work_before_start();
  tell_late_begin(source);
}

}  // namespace profshim::device
