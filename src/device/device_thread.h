// The device thread "profshim-gpu": brings CUPTI up, serves the requests of shared_state.h, and ends.
#pragma once

#include <cstdint>
#include <string>

#include "device/capture/capture.h"
#include "profshim/device.h"
#include "shared_state.h"

namespace profshim::device {

/// Options of the recording if the whole recorder may hold `memory` bytes.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory);
/// Logs, and adds to the traces, why this process records no GPU activity.
void report_no_activity(const std::string& why);
/// The same for "out of memory". Allocates nothing.
void report_no_memory();
/// Moves Phase::kStarting to `next`; does nothing in another phase. Any thread.
void end_start(Phase next);
/// Starts the thread with all signals blocked. Returns false if the system refuses. `spec` must outlive the process.
bool start_device_thread(const Spec& spec);

}  // namespace profshim::device
