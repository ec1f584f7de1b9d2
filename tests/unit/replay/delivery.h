// Schedules records into buffers. As with CUPTI, a flush brings every record of what ended before it, and a thread's
// calls come in the order of their ends. Nothing else is ordered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_cupti.h"

namespace profshim::replay {

struct Plan {
  std::uint32_t seed = 1;
  std::size_t flushes = 8;            // while the job runs
  std::size_t records_in_buffer = 0;  // 0 = as many as fit
  std::size_t buffer_bytes = 64 << 10;
  std::size_t buffers = 16;
  int window_percent = 100;    // of the time with calls
  bool calls_in_order = true;  // false: calls come unordered too
  bool driver_inside = false;  // driver calls inside launches and event records
  bool streams = false;        // CUPTI reports streams and thus kernel priorities
};

struct Shipment {
  std::string thread;  // requests the buffer; "" = any
  std::vector<const Record*> records;
  bool at_flush = false;  // false: earlier, when full
};
/// Between two flushes.
using Round = std::vector<Shipment>;
struct Delivery {
  std::vector<Round> in_window, afterwards;
};

Delivery deliveries(const Records& records, std::int64_t window_end_ns, const Plan& plan, const ReplayCupti& cupti);

/// A moment after that share of the calls' time, without a running call.
std::int64_t window_end_of(const Trace& trace, int percent);

}  // namespace profshim::replay
