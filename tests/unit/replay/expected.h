// Rows that our trace must have, made from the original's. A rule describes, and counts, each intended difference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay.h"
#include "trace_rows.h"

namespace profshim::replay {

/// Differences between the trace's Kineto and today's.
struct Dialect {
  bool whole_microseconds = false;    // before 2024-04: begins and durations are cut
  bool other_property_order = false;  // deviceProperties before 2024 stood between other members
};

enum class Rule {
  kNotFromCupti,        // from PyTorch: operators, annotations, Python frames
  kExternalId,          // Kineto's link to a PyTorch operator
  kCollectiveArgs,      // copied from record_param_comms onto NCCL's kernels
  kUnrecordedCall,      // a query without device work
  kFlowEndAtCall,       // Kineto ends a flow at every call that starts none
  kFlowWithoutWork,     // Kineto starts a flow at waits, and at launches whose work is not in the trace
  kFlowEndAtEventSync,  // Kineto ends a flow at waits for an event, whose calls start none
  kLaunchedBefore,      // work belongs to the window of its launch
  kAfterWindow,         // the replay's window ended earlier
  kSharedMemoryOptIn,   // Kineto says 0 % beyond the default shared memory limit
  kSinglePrecision,     // Kineto divides floats: the sixth decimal may differ
  kGraphIds,            // Kineto wrote none before 2026-02
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
  bool has_names = false;  // of streams and devices; one trace lacks them
  RuleCounts rules;
  std::uint64_t launches_without_work = 0;  // launches, copies and memsets whose work the original lacks
};
/// `streams`: records have every stream's priority.
Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams);

/// Our rows as that Kineto would write them, without those of profshim alone.
std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names);

}  // namespace profshim::replay
