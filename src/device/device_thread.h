// The thread that alone calls CUPTI: brings it up, serves the requests of shared_state.h, ends.
#pragma once

#include <cstdint>
#include <string>

#include "device/capture/capture.h"
#include "profshim/device.h"
#include "shared_state.h"

namespace profshim::device {

/// Memory and kinds of a recording that may hold `memory` in all.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory);
/// No GPU activity is recorded in this process, for this reason. Adds it to the traces.
void say_there_is_none(const std::string& why);
void say_there_is_no_memory();
/// Ends Phase::kStarting, if it has not ended yet. Any thread.
void end_start(Phase next);
/// Before the thread runs.
void set_listener(const StepListener& listener);
/// Body of the thread; `argument` is the Spec.
void* run_device_thread(void* argument);

}  // namespace profshim::device
