// Gives CUPTI to other clients and takes it back. The hooks of their calls use profshim/device.h.
#pragma once

#include <cstdint>

#include "cupti_client.h"

namespace profshim::device {

/// Thread-safe.
void report_other_client();
/// Logs that another client uses CUPTI, since it made `call`. Thread-safe.
void report_yield(const char* call);
/// Takes CUPTI back from a client that was silent for a second. Returns the nanoseconds left, or -1 if
/// no client is silent. Runs on the device thread.
std::int64_t take_back_after_silence(CuptiClient& client);

}  // namespace profshim::device
