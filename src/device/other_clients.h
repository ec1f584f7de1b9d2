// Other clients of CUPTI in this process, as the device thread sees them. profshim/device.h has what their hooks call.
#pragma once

#include <cstdint>

#include "source.h"

namespace profshim::device {

/// A window is open while another client has CUPTI. Any thread.
void say_other_client_recorded();
/// Another client took CUPTI by `call`.
void say_yielded(const char* call);
/// Takes CUPTI back from a client that stays silent. Nanoseconds until that time; -1 = nobody is silent. Device thread.
std::int64_t take_back_after_silence(Source& source);

}  // namespace profshim::device
