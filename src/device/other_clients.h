// Other clients of CUPTI in this process, as the device thread sees them. profshim/device.h declares the functions that
// their hooks call.
#pragma once

#include <cstdint>

#include "cupti_client.h"

namespace profshim::device {

/// Adds to the traces that a window was open while another client used CUPTI. Any thread.
void report_other_client();
/// Logs that another client took CUPTI by `call`, and adds it to the traces if the recorder is armed. Any thread.
void report_yield(const char* call);
/// Takes CUPTI back from a client that has been silent long enough. Returns the nanoseconds left until then; -1 if no
/// client is silent. Device thread.
std::int64_t take_back_after_silence(CuptiClient& client);

}  // namespace profshim::device
