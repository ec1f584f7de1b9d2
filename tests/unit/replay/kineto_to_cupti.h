#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "trace_rows.h"

namespace profshim::replay {

/// A record in its newest layout. Older CUPTI releases deliver only its first part.
struct Record {
  std::uint32_t kind = 0;
  std::uint32_t callback_id = 0;
  std::int64_t end_ns = 0;  // Unix time at which CUPTI writes the record
  alignas(8) std::array<std::uint8_t, 224> bytes{};
};

struct Recording {
  std::uint64_t first_tick = 0;
  std::map<std::string, std::uint32_t> threads;  // tid -> low 32 bits of the pthread_t
  bool streams = false;
  bool driver_inside = false;
};

struct Records {
  std::int64_t first_ns = 0;                         // earliest begin in Unix time
  std::map<std::string, std::vector<Record>> calls;  // by thread, in the order of their ends
  std::vector<Record> waits;                         // in the order of their ends
  std::vector<Record> events;                        // records of cudaEventRecord calls and of streams
  std::vector<Record> device;
  std::deque<std::string> names;  // kernel records point to these strings
};

Records cupti_records(const Trace& trace, const Recording& recording);

std::int64_t first_ns_of(const Trace& trace);
/// Uses the bandwidth if the trace has whole microseconds.
std::int64_t exact_duration_ns(const Row& work);

/// Numbers graphs as Kineto does since 2026-02: launches with the same nodes get one number.
std::map<std::int64_t, std::uint32_t> graphs_by_correlation(const Trace& trace);
std::uint64_t graph_node_of(const Row& work);
constexpr std::int32_t priority_of(std::int64_t stream) { return -static_cast<std::int32_t>(stream % 5); }

}  // namespace profshim::replay
