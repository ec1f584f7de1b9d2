// Sends a trace's CUPTI records through our device code, the spool and the writer.
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
  Trace trace;                              // `json` as rows
  device::Losses losses;                    // counted by the converter
  bool had_buffers = true;                  // CUPTI always got one
  std::map<std::string, std::string> tids;  // original thread -> ours
  std::int64_t window_end_ns = 0;           // Unix time
  std::string failure;                      // "": none
};

/// `tamper` changes the records before delivery.
Replayed replay(const Trace& original, const Generation& generation, const Plan& plan,
                const std::function<void(Records&)>& tamper = {});

}  // namespace profshim::replay
