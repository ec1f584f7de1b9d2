// CuptiClient: our client of this process's libcupti, with its capture, its callbacks and its output.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "capture_report.h"
#include "device/capture/capture.h"
#include "device/capture/launches/launch_callbacks.h"
#include "shared_state.h"
#include "spool_output.h"

namespace profshim::device {

/// Drops the events that no window needs. CUPTI is on before a window begins, and a kernel may run long after the
/// window that launched it: this keeps events from arm() on until all device activity launched before the window's end
/// is here.
class WindowOutput final : public SpoolOutput {
 public:
  explicit WindowOutput(const Capture& capture) : capture_(capture) {}
  void put(const Event& event, const Event* continuation) override {
    const Ticks until = shared.request.off_at.load(std::memory_order_relaxed);
    if (until == kNever || capture_.settled_until() < until) SpoolOutput::put(event, continuation);
  }

 private:
  const Capture& capture_;
};

/// Created once by the device thread, never destroyed: CUPTI may call back until the process ends.
struct CuptiClient {
  CuptiClient(FoundCupti found_cupti, const CaptureOptions& options, const StepListener& listener,
              LaunchCallbacks::Wanted wanted)
      : found(std::move(found_cupti)),
        output(capture),
        capture(found.api, output, options),
        callbacks(found.api, listener, wanted) {}
  FoundCupti found;
  WindowOutput output;
  Capture capture;
  LaunchCallbacks callbacks;
  CaptureReport report;
  bool refusal_reported = false;
  std::string late_begins;  // values of `gpu_recorded_after_us`, separated by commas
  // Copies of Capture's state for other threads. show() stores them after the losses so far are written, so that no
  // trace is written without them.
  std::atomic<Capture::State> state{Capture::State::kOff};
  std::atomic<Ticks> settled_until{Capture::kEverything};

  void show() {
    settled_until.store(capture.settled_until(), std::memory_order_release);
    state.store(capture.state(), std::memory_order_release);
  }
};
/// Returns null before CUPTI is up and after finish(). Any thread.
CuptiClient* running_client();
/// Returns true if CUPTI is on, or will not come on: refused, finished, or in use by another client. Any thread.
bool is_on_or_never(const CuptiClient& client);
/// Subscribes to callbacks if steps need them; reports a failure in the log and the traces. Runs on the device thread,
/// or on a thread on which another client has just left.
void start_callbacks(CuptiClient& client);

}  // namespace profshim::device
