// Gives CUPTI to other clients and takes it back. Hooks of their calls use profshim/device.h.
#pragma once

#include <cstdint>

#include "cupti_client.h"

namespace profshim::device {

/// Any thread.
void report_other_client();
/// Logs `call` of the other client. Any thread.
void report_yield(const char* call);
/// Takes CUPTI back from a client that was silent for a second. Returns the nanoseconds left, or -1. Device thread.
std::int64_t take_back_after_silence(CuptiClient& client);

}  // namespace profshim::device
