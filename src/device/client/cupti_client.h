#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "capture_report.h"
#include "device/capture/capture.h"
#include "device/capture/launch_callbacks.h"
#include "device/cupti/find_cupti.h"
#include "shared_state.h"
#include "spool_output.h"

namespace profshim::device {

/// Drops events before arm(), and events after all activity launched before the window's end is delivered.
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

/// Never destroyed: CUPTI calls back until the process ends.
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
  std::string late_begins;  // values of metadata `gpu_recorded_after_us`
  // Copied from `capture` for other threads.
  std::atomic<Capture::State> state{Capture::State::kOff};
  std::atomic<Ticks> settled_until{Capture::kEverything};

  /// Call after CaptureReport::write_losses(), so that each trace has its losses.
  void show() {
    settled_until.store(capture.settled_until(), std::memory_order_release);
    state.store(capture.state(), std::memory_order_release);
  }
};
/// Returns null until CUPTI works, and after finish(). Thread-safe.
CuptiClient* running_client();
/// True if CUPTI records, or will not (refused, yielded, finished). Thread-safe.
bool is_on_or_never(const CuptiClient& client);
/// Subscribes to the CUDA calls that make steps. Thread-safe.
void start_callbacks(CuptiClient& client);

}  // namespace profshim::device
