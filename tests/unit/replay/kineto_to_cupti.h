// Turns a trace of Kineto's back into the activity records that CUPTI delivered for it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "trace_rows.h"

namespace profshim::replay {

/// A record in the newest layout of its kind; older CUPTIs deliver the first part of it.
struct Record {
  std::uint32_t kind = 0;
  std::uint32_t callback_id = 0;  // of API calls
  std::int64_t end_ns = 0;        // when CUPTI writes it, since the epoch
  alignas(8) std::array<std::uint8_t, 224> bytes{};
};

/// Properties of the job that its trace does not hold.
struct Recording {
  std::uint64_t first_tick = 0;                  // the time of `first_ns` in the records
  std::map<std::string, std::uint32_t> threads;  // tid in the trace -> low 32 bits of the thread's pthread_t
  bool streams = false;                          // records of the streams, which give kernels their priority
  bool driver_inside = false;                    // the driver's call inside launches and records of events
};

struct Records {
  std::int64_t first_ns = 0;                         // when the first of them begins, since the epoch
  std::map<std::string, std::vector<Record>> calls;  // of each thread, in the order in which they end
  std::vector<Record> waits;                         // of one thread, as if another one made what comes next
  std::vector<Record> events;                        // records of events, and streams
  std::vector<Record> device;                        // everything else
  std::deque<std::string> names;                     // the records point to them
};

Records cupti_records(const Trace& trace, const Recording& recording);

/// When the first row begins that comes from CUPTI.
std::int64_t first_ns_of(const Trace& trace);
/// The nanoseconds of a device activity. A trace with whole microseconds has them only where the bandwidth tells.
std::int64_t exact_duration_ns(const Row& work);

/// No trace before Kineto of 2026-02 tells the graph of a node: launches with the same nodes get the same number.
std::map<std::int64_t, std::uint32_t> graphs_by_correlation(const Trace& trace);
/// Likewise the number of a node, made from its place.
std::uint64_t graph_node_of(const Row& work);
/// The priority that we give a stream.
constexpr std::int32_t priority_of(std::int64_t stream) { return -static_cast<std::int32_t>(stream % 5); }

}  // namespace profshim::replay
