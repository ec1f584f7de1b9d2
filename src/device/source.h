// The CUPTI of this process and all that is made for it.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "device/capture/capture.h"
#include "device/capture/launch_callbacks.h"
#include "said.h"
#include "shared_state.h"
#include "spool_output.h"

namespace profshim::device {

/// CUPTI is on before a window comes, and a kernel may run long after the window with its launch: events are kept from
/// arm() on, until all device work that was launched before the window's end is there.
class WantedOutput final : public SpoolOutput {
 public:
  explicit WantedOutput(const Capture& capture) : capture_(capture) {}
  void put(const Event& event, const Event* continuation) override {
    const Ticks until = shared.wanted_off_at.load(std::memory_order_relaxed);
    if (until == kNever || capture_.settled_until() < until) SpoolOutput::put(event, continuation);
  }

 private:
  const Capture& capture_;
};

/// Made once, never destroyed: CUPTI may call back until the process is gone.
struct Source {
  Source(FoundCupti found_cupti, const CaptureOptions& options, const StepListener& listener,
         LaunchCallbacks::Wanted wanted)
      : found(std::move(found_cupti)),
        output(capture),
        capture(found.api, output, options),
        callbacks(found.api, listener, wanted) {}
  FoundCupti found;
  WantedOutput output;
  Capture capture;
  LaunchCallbacks callbacks;
  Said said;
  bool refusal_told = false;
  std::string late_begins;
  // The state that other threads see. It changes only after the losses until then were said, so that no trace is
  // written without them.
  std::atomic<Capture::State> state{Capture::State::kOff};
  std::atomic<Ticks> settled_until{Capture::kEverything};

  void show() {
    settled_until.store(capture.settled_until(), std::memory_order_release);
    state.store(capture.state(), std::memory_order_release);
  }
};
/// Null before CUPTI is up, and after its end. Any thread.
Source* live();
/// Is CUPTI on? True also where it will not come on: refused, finished, or another client's. Any thread.
bool is_on_or_never(const Source& source);
/// Subscribes where steps need it; says why that could not be had. The device thread, or one on which another client
/// has let go.
void start_callbacks(Source& source);

}  // namespace profshim::device
