// Decides when and in which buffers the records come. CUPTI's promises are kept: a flush brings every record of what
// has ended before it, and the calls of a thread come in the order in which they ended. Nothing else is ordered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_cupti.h"

namespace profshim::replay {

struct Plan {
  std::uint32_t seed = 1;
  std::size_t flushes = 8;            // while the job runs
  std::size_t records_in_buffer = 0;  // at most; 0 = as many as fit
  std::size_t buffer_bytes = 64 << 10;
  std::size_t buffers = 16;
  int window_percent = 100;    // of the time with calls
  bool calls_in_order = true;  // false: not even these
  bool driver_inside = false;  // launches and records of events have the driver's call inside
  bool streams = false;        // CUPTI tells of the streams, whose priority the kernels then have
};

/// The records of one buffer.
struct Shipment {
  std::string thread;  // that asks for the buffer; "" = any
  std::vector<const Record*> records;
  bool at_flush = false;  // else it is full and comes before
};
/// Between two flushes.
using Round = std::vector<Shipment>;
struct Delivery {
  std::vector<Round> in_window, afterwards;
};

Delivery deliveries(const Records& records, std::int64_t window_end_ns, const Plan& plan, const ReplayCupti& cupti);

/// A moment after that share of the calls' time in which no call runs.
std::int64_t window_end_of(const Trace& trace, int percent);

}  // namespace profshim::replay
