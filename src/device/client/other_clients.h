#pragma once

#include <cstdint>

#include "cupti_client.h"

namespace profshim::device {

/// Thread-safe.
void report_other_client();
/// `call`: the other client's CUPTI call. Thread-safe.
void report_yield(const char* call);
/// Takes CUPTI back after one second of Owner::kOtherIsSilent. Returns the nanoseconds left, or -1 if no client is
/// silent. Runs on the device thread.
std::int64_t take_back_after_silence(CuptiClient& client);

}  // namespace profshim::device
