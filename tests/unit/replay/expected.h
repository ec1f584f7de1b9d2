// The rows that our trace must have, made from the original row by row. A rule describes each intended difference: it
// is narrow, has its reason beside it, and is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay.h"
#include "trace_rows.h"

namespace profshim::replay {

/// Differences between the Kineto that wrote a trace and today's.
struct Dialect {
  bool whole_microseconds = false;    // before 2024-04: begins and durations are cut to microseconds
  bool other_property_order = false;  // deviceProperties before 2024 stood between other members
};

enum class Rule {
  kNotFromCupti,        // operators, annotations and Python frames come from PyTorch
  kExternalId,          // Kineto's link to a PyTorch operator
  kCollectiveArgs,      // copied from PyTorch's record_param_comms onto NCCL's kernels
  kUnrecordedCall,      // a query that profshim does not record
  kFlowEndAtCall,       // Kineto ends a flow at every call that does not start one
  kFlowWithoutWork,     // Kineto starts a flow at a launch whose work is not in the trace, or at a wait
  kFlowEndAtEventSync,  // Kineto ends a flow at waits for an event, whose calls start none
  kLaunchedBefore,      // work whose launch lies before the window belongs to the window before
  kAfterWindow,         // the window of the replay ended earlier
  kSharedMemoryOptIn,   // Kineto says 0 % for kernels with more shared memory than the default limit
  kSinglePrecision,     // Kineto divides floats: their sixth decimal may be another
  kGraphIds,            // Kineto wrote no graph ids before 2026-02
  kStreamPriority,      // Kineto writes it since CUDA 13.1
  kSyncLine,            // synchronisations have a line of their own
  kOverheadLine,        // overhead has a line in the process
  kStreamName,          // Kineto leaves a blank at the end of a stream's name
  kDeviceUuid,          // Kineto does not name it
};
const char* name_of(Rule rule);
using RuleCounts = std::map<Rule, int>;

struct Expectation {
  std::vector<Row> rows;
  std::vector<Trace::Object> devices;
  bool has_names = false;  // of streams and devices: somebody removed them from one trace
  RuleCounts rules;
  std::uint64_t launches_without_work = 0;  // launches, copies and memsets of the window whose work the original lacks
};
/// `streams`: the records told the priority of every stream.
Expectation expected_rows(const Trace& original, const Replayed& replayed, bool streams);

/// Our rows as that Kineto would have written them, without those that only profshim writes.
std::vector<Row> comparable_rows(const Trace& ours, const Dialect& dialect, bool with_names);

}  // namespace profshim::replay
