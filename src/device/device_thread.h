// The device thread "profshim-gpu" finds CUPTI and carries out the requests in shared_state.h.
#pragma once

#include <cstdint>
#include <string>

#include "device/capture/capture.h"
#include "profshim/device.h"
#include "shared_state.h"

namespace profshim::device {

/// `memory`: bytes of the whole recorder.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory);
void report_no_activity(const std::string& why);
/// Allocates nothing.
void report_no_memory();
/// Does nothing unless in Phase::kStarting. Any thread.
void end_start(Phase next);
/// The thread blocks all signals. Returns false if the system refuses. `spec` must outlive the process.
bool start_device_thread(const Spec& spec);

}  // namespace profshim::device
