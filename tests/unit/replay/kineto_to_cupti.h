// Turns a Kineto trace back into CUPTI's activity records.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "trace_rows.h"

namespace profshim::replay {

/// A record in its newest layout; older CUPTI releases deliver its first part.
struct Record {
  std::uint32_t kind = 0;
  std::uint32_t callback_id = 0;  // set for API calls
  std::int64_t end_ns = 0;        // Unix time, when CUPTI writes the record
  alignas(8) std::array<std::uint8_t, 224> bytes{};
};

/// Properties that the Kineto trace does not hold.
struct Recording {
  std::uint64_t first_tick = 0;                  // tick of Records::first_ns
  std::map<std::string, std::uint32_t> threads;  // tid -> low 32 bits of the pthread_t
  bool streams = false;                          // CUPTI reports streams with priorities
  bool driver_inside = false;                    // driver calls inside launches and cudaEventRecord
};

struct Records {
  std::int64_t first_ns = 0;                         // earliest begin, Unix time
  std::map<std::string, std::vector<Record>> calls;  // by thread, in the order of their ends
  std::vector<Record> waits;                         // ordered like one thread's calls
  std::vector<Record> events;                        // of cudaEventRecord and streams
  std::vector<Record> device;                        // of device activity, overhead, devices
  std::deque<std::string> names;                     // the records point to them
};

Records cupti_records(const Trace& trace, const Recording& recording);

/// Returns the begin of the first row from CUPTI.
std::int64_t first_ns_of(const Trace& trace);
/// Returns the duration of `work`, computed from the bandwidth if the trace has whole microseconds.
std::int64_t exact_duration_ns(const Row& work);

/// Numbers graphs, as Kineto does since 2026-02: launches with the same nodes get one number.
std::map<std::int64_t, std::uint32_t> graphs_by_correlation(const Trace& trace);
/// Makes up a graph node's number from its activity's begin.
std::uint64_t graph_node_of(const Row& work);
constexpr std::int32_t priority_of(std::int64_t stream) { return -static_cast<std::int32_t>(stream % 5); }

}  // namespace profshim::replay
