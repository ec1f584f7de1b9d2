// As with CUPTI, a flush brings the records of activities that ended before the flush.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_cupti.h"

namespace profshim::replay {

struct Plan {
  std::uint32_t seed = 1;
  std::size_t flushes = 8;
  std::size_t records_in_buffer = 0;  // 0: as many as fit
  std::size_t buffer_bytes = 64 << 10;
  std::size_t buffers = 16;
  int window_percent = 100;    // the window's share of the time with calls
  bool calls_in_order = true;  // each thread's, by their ends
  bool driver_inside = false;
  bool streams = false;
};

struct Shipment {
  std::string thread;  // requests the buffer; "": any thread
  std::vector<const Record*> records;
  bool at_flush = false;  // false: arrives before the flush, like a full buffer
};
/// Buffers that arrive between two flushes.
using Round = std::vector<Shipment>;
struct Delivery {
  std::vector<Round> in_window, afterwards;
};

Delivery deliveries(const Records& records, std::int64_t window_end_ns, const Plan& plan, const ReplayCupti& cupti);

/// At the returned time, `percent` of the time with calls is over and no call is in flight.
std::int64_t window_end_of(const Trace& trace, int percent);

}  // namespace profshim::replay
