#include "device/cupti/mapped_libraries.h"
#include "device_thread.h"
#include "profshim/recorder_control.h"
#include "profshim/trace/schema.h"

namespace profshim::device {
namespace {

// Appends to metadata gpu_recorded_after_us the microseconds from a window's begin until CUPTI was on; null if the
// window ended first.
void write_late_begin(CuptiClient& client) {
  const bool on = client.capture.state() == Capture::State::kOn;
  if (!on && shared.request.on.load(std::memory_order_acquire)) return;
  const std::int64_t since_ns = shared.begins.late_since_ns.exchange(0);
  if (since_ns == 0) return;
  constexpr std::size_t kMostText = 1000;
  if (client.late_begins.size() < kMostText) {
    client.late_begins += (client.late_begins.empty() ? "" : ", ") +
                          (on ? std::to_string((monotonic_ns() - since_ns) / 1000) : std::string("null"));
  }
  recorder::add_metadata(schema::ours::kLateBegins, "[" + client.late_begins + "]");
}

void note_activity_before_start() {
  std::int64_t open_ns = shared.begins.open_since_ns.load(std::memory_order_acquire);
  if (open_ns == 0) return;
  const FirstCall seen = shared.begins.first_call.load();
  const bool may_miss = seen == FirstCall::kNotHeld || (seen == FirstCall::kNotSeen && a_context_exists());
  if (may_miss) report_late_begin();
  // Calls before the first one that waited for CUPTI are missing in any case.
  shared.begins.late_since_ns.store(open_ns);
  // Last: has_settled() waits for it.
  shared.begins.open_since_ns.compare_exchange_strong(open_ns, 0, std::memory_order_release);
}

}  // namespace

void report_late_begin() {
  recorder::count_loss(Loss::device_lost);
  recorder::problem("cupti",
                    "CUPTI was switched on after a window had begun: earlier GPU activity is missing "
                    "(a larger schedule.warmup switches CUPTI on earlier)");
}

void note_late_begins(CuptiClient& client, bool was_on, std::int64_t began_ns) {
  if (began_ns != 0 && !was_on) {
    report_late_begin();
    shared.begins.late_since_ns.store(began_ns);
  }
  // A window may also have ended before CUPTI was ready.
  const bool is_wanted = shared.request.on.load(std::memory_order_acquire);
  if (client.capture.state() == Capture::State::kOn || !is_wanted) note_activity_before_start();
  write_late_begin(client);
}

}  // namespace profshim::device
