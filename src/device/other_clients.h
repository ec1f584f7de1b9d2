// Other CUPTI clients, seen from the device thread. Their hooks use profshim/device.h.
#pragma once

#include <cstdint>

#include "cupti_client.h"

namespace profshim::device {

/// Any thread.
void report_other_client();
/// Logs `call`. Any thread.
void report_yield(const char* call);
/// Takes CUPTI back from a silent client. Returns the nanoseconds until then, or -1. Device thread.
std::int64_t take_back_after_silence(CuptiClient& client);

}  // namespace profshim::device
