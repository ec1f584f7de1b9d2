// Computes profshim's expected rows from Kineto's rows. A Rule is an intended difference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay.h"
#include "trace_rows.h"

namespace profshim::replay {

/// Differences between the Kineto that wrote the trace and today's Kineto.
struct Dialect {
  bool whole_microseconds = false;    // Kineto before 2024-04 truncated begins and durations
  bool other_property_order = false;  // Kineto before 2024 sorted deviceProperties otherwise
};

enum class Rule {
  kNotFromCupti,
  kExternalId,      // Kineto's link to a PyTorch operator
  kCollectiveArgs,  // Kineto copies these args from record_param_comms to NCCL's kernels
  kUnrecordedCall,
  kFlowEndAtCall,       // Kineto ends a flow at every call that starts none
  kFlowWithoutWork,     // Kineto starts a flow at waits and at launches without activity in the trace
  kFlowEndAtEventSync,  // Kineto ends a flow at event waits, whose calls start none
  kLaunchedBefore,
  kAfterWindow,
  kSharedMemoryOptIn,  // Kineto shows 0 % occupancy beyond the default shared memory
  kSinglePrecision,    // Kineto divides floats, so the sixth decimal may differ
  kGraphIds,           // Kineto has graph ids since 2026-02
  kStreamPriority,     // Kineto has priorities since CUDA 13.1
  kSyncLine,           // profshim gives synchronizations their own track
  kOverheadLine,
  kStreamName,  // Kineto's stream names end with a blank
  kDeviceUuid,  // Kineto omits uuids
};
const char* name_of(Rule rule);
using RuleCounts = std::map<Rule, int>;

struct Expectation {
  std::vector<Row> rows;
  std::vector<Trace::Object> devices;
  bool has_names = false;  // false: the original names no streams and devices
  RuleCounts rules;
  std::uint64_t launches_without_work = 0, copies_without_work = 0;
};
Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams);

/// Returns the rows that Kineto writes too, with times as precise as Kineto's.
std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names);

}  // namespace profshim::replay
