// Runs the records of a trace through our device code, the spool and the writer: what profshim would have written.
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
  Trace trace;                              // the same, as rows
  device::Losses losses;                    // of the converter
  bool had_buffers = true;                  // for every request
  std::map<std::string, std::string> tids;  // of the original -> of the thread that stood for it
  std::int64_t window_end_ns = 0;           // since the epoch
  std::string failure;                      // "" = it ran
};

/// `tamper` changes the records before they are delivered.
Replayed replay(const Trace& original, const Generation& generation, const Plan& plan,
                const std::function<void(Records&)>& tamper = {});

}  // namespace profshim::replay
