// Computes the rows that profshim's trace must have from Kineto's. A Rule is an intended difference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay.h"
#include "trace_rows.h"

namespace profshim::replay {

/// Says how the Kineto that wrote the trace differs from today's.
struct Dialect {
  bool whole_microseconds = false;    // Kineto before 2024-04 cut begins and durations
  bool other_property_order = false;  // Kineto before 2024 sorted deviceProperties otherwise
};

enum class Rule {
  kNotFromCupti,        // from PyTorch: operators, annotations, Python frames
  kExternalId,          // Kineto's link to a PyTorch operator
  kCollectiveArgs,      // Kineto copies them from record_param_comms onto NCCL's kernels
  kUnrecordedCall,      // profshim does not record queries
  kFlowEndAtCall,       // Kineto ends a flow at every call that starts none
  kFlowWithoutWork,     // Kineto starts a flow at waits, and at launches whose activity is not in the trace
  kFlowEndAtEventSync,  // Kineto ends a flow at waits for an event, whose calls start none
  kLaunchedBefore,      // the activity's launch lies before the trace
  kAfterWindow,         // the replay's window ended earlier
  kSharedMemoryOptIn,   // Kineto says 0 % occupancy beyond the default shared memory
  kSinglePrecision,     // Kineto divides floats: the sixth decimal may differ
  kGraphIds,            // not in Kineto before 2026-02
  kStreamPriority,      // in Kineto since CUDA 13.1
  kSyncLine,            // profshim gives synchronizations their own track
  kOverheadLine,        // profshim shows overhead in the job's process
  kStreamName,          // Kineto's stream names end with a blank
  kDeviceUuid,          // Kineto omits it
};
const char* name_of(Rule rule);
using RuleCounts = std::map<Rule, int>;

struct Expectation {
  std::vector<Row> rows;
  std::vector<Trace::Object> devices;
  bool has_names = false;  // one original lacks names of streams and devices
  RuleCounts rules;
  std::uint64_t launches_without_work = 0;  // calls whose device activity the original lacks
};
/// `streams` says whether CUPTI reported streams and priorities.
Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams);

/// Returns our rows with times rounded like that Kineto's, without those that only profshim writes.
std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names);

}  // namespace profshim::replay
