// Rows that our trace must have, made from the original's. A rule stands for each intended difference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay.h"
#include "trace_rows.h"

namespace profshim::replay {

/// Differences between the Kineto that wrote the trace and today's.
struct Dialect {
  bool whole_microseconds = false;    // before 2024-04: begins and durations are cut
  bool other_property_order = false;  // of deviceProperties, before 2024
};

enum class Rule {
  kNotFromCupti,        // from PyTorch: operators, annotations, Python frames
  kExternalId,          // Kineto's link to a PyTorch operator
  kCollectiveArgs,      // copied from record_param_comms onto NCCL's kernels
  kUnrecordedCall,      // a query without device activity
  kFlowEndAtCall,       // Kineto ends a flow at every call that starts none
  kFlowWithoutWork,     // Kineto starts a flow at waits, and at launches whose activity is not in the trace
  kFlowEndAtEventSync,  // Kineto ends a flow at waits for an event, whose calls start none
  kLaunchedBefore,      // the activity's launch lies before the trace
  kAfterWindow,         // the replay's window ended earlier
  kSharedMemoryOptIn,   // Kineto says 0 % occupancy beyond the default shared memory
  kSinglePrecision,     // Kineto divides floats: the sixth decimal may differ
  kGraphIds,            // not in Kineto before 2026-02
  kStreamPriority,      // in Kineto since CUDA 13.1
  kSyncLine,            // synchronizations have their own track
  kOverheadLine,        // overhead has a track in the process
  kStreamName,          // Kineto's ends with a blank
  kDeviceUuid,          // Kineto omits it
};
const char* name_of(Rule rule);
using RuleCounts = std::map<Rule, int>;

struct Expectation {
  std::vector<Row> rows;
  std::vector<Trace::Object> devices;
  bool has_names = false;  // names of streams and devices, which one trace lacks
  RuleCounts rules;
  std::uint64_t launches_without_work = 0;  // calls whose device activity the original lacks
};
/// `streams`: CUPTI reported streams and priorities.
Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams);

/// Returns our rows as that Kineto rounds times, without rows of profshim alone.
std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names);

}  // namespace profshim::replay
