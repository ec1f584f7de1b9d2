// Sends a trace's CUPTI records through profshim's device code, the spool and the trace writer.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "delivery.h"
#include "device/capture/converter.h"
#include "trace_rows.h"

namespace profshim::replay {

struct Replayed {
  std::string json;
  Trace trace;
  device::Losses losses;
  bool had_buffers = true;
  std::map<std::string, std::string> tids;  // original tid -> replayed tid
  std::int64_t window_end_ns = 0;           // Unix time
  std::string failure;
};

Replayed replay(const Trace& original, const Generation& generation, const Plan& plan,
                const std::function<void(Records&)>& tamper = {});

}  // namespace profshim::replay
