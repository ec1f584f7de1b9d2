// Schedules records into buffers. As with CUPTI, a flush brings what ended before it, and a thread's calls come ordered
// by their ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_cupti.h"

namespace profshim::replay {

struct Plan {
  std::uint32_t seed = 1;
  std::size_t flushes = 8;            // within the window
  std::size_t records_in_buffer = 0;  // 0: all that fit
  std::size_t buffer_bytes = 64 << 10;
  std::size_t buffers = 16;
  int window_percent = 100;    // how much of the time with calls
  bool calls_in_order = true;  // false: in any order, like device records
  bool driver_inside = false;  // driver calls inside launches and cudaEventRecord
  bool streams = false;        // CUPTI reports streams and thus kernel priorities
};

struct Shipment {
  std::string thread;  // requests the buffer; "": any may
  std::vector<const Record*> records;
  bool at_flush = false;  // false: arrives earlier, like a full buffer
};
/// Buffers that arrive between two flushes.
using Round = std::vector<Shipment>;
struct Delivery {
  std::vector<Round> in_window, afterwards;
};

Delivery deliveries(const Records& records, std::int64_t window_end_ns, const Plan& plan, const ReplayCupti& cupti);

/// Returns a time without a call in flight, after `percent` of the time with calls.
std::int64_t window_end_of(const Trace& trace, int percent);

}  // namespace profshim::replay
