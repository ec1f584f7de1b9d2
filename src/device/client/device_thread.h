// Unless noted, only the device thread uses device/capture and device/cupti.
#pragma once

#include <cstdint>
#include <string>

#include "cupti_client.h"
#include "device/capture/capture.h"
#include "profshim/device.h"
#include "shared_state.h"

namespace profshim::device {

/// `memory`: bytes that the whole recorder may use.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory);
/// Also lets hooks record CUDA calls.
void report_no_activity(const std::string& why);
/// Allocates nothing.
void report_no_memory();
/// Changes Phase::kStarting to `next`; does nothing in other phases. Thread-safe.
void end_start(Phase next);
/// Returns false if no thread can be made. `spec` must never be destroyed.
bool start_device_thread(const Spec& spec);

void report_late_begin();
/// Call after each Capture::serve(). `was_on`: CUPTI was on before. `began_ns`: begin of a new window; 0 = none.
void note_late_begins(CuptiClient& client, bool was_on, std::int64_t began_ns);

}  // namespace profshim::device
