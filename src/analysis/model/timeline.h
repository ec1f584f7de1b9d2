// One rank's trace, written by profshim or any Kineto. include/profshim/trace/schema.h describes the format.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/perf_counters.h"
#include "profshim/trace/metadata.h"
#include "texts.h"

namespace profshim::analysis_detail {

enum class Kind : std::uint8_t {
  kOther,
  kCpuOp,
  kUserAnnotation,
  kPythonFunction,
  kRuntime,
  kDriver,
  kOverhead,
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,
  kPhase,  // an occurrence of a phase of the spec
  kSync,   // synchronization, and CUDA events recorded in a stream
};
/// Kinds that occupy a host thread and have rows in key_averages().
constexpr bool is_host(Kind kind) {
  return kind == Kind::kCpuOp || kind == Kind::kUserAnnotation || kind == Kind::kRuntime || kind == Kind::kDriver ||
         kind == Kind::kOverhead;
}
constexpr bool is_device_work(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset;
}

/// A host thread or a device stream. For a stream, pid is the device and tid the stream.
struct Track {
  std::int64_t pid = 0, tid = 0;
  TextId pid_text = 0, tid_text = 0;  // texts of pid and tid; 0 = the file has a number
  bool operator==(const Track&) const = default;
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A complete event, or a begin and end pair.
struct Slice {
  std::int64_t begin_ns = 0;  // since the epoch; without a base time, as in the file
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;  // joins a call and its device activity; 0 = none
  std::int64_t external_id = 0;  // joins an operator, its calls and their device activity; 0 = none
  std::int64_t bytes = -1;       // -1 = not given
  std::int64_t flops = 0;
  TextId name = 0;
  std::uint32_t track = 0;
  std::uint32_t communication = kNone;  // index in Timeline::communications
  TextId phases = 0;                    // phases around it or its launch, outermost first: "actor, weight_sync"
  TextId input_dims = 0;                // compact JSON; needs TimelineOptions::input_dims
  Kind kind = Kind::kOther;
  bool asynchronous = false;  // occupies no thread
  bool unfinished = false;    // running at the end of the trace
  bool resumed = false;       // of a phase: no occurrence of its own
  std::int64_t end_ns() const { return begin_ns + duration_ns; }
};
static_assert(sizeof(Slice) <= 72);

/// Arguments of record_param_comms, NCCL and MPI calls, and NCCL kernels. -1 or 0 = not given.
struct Communication {
  TextId collective = 0;   // "allreduce"; 0 for MPI calls
  TextId dtype = 0;        // "Float", "MPI_DOUBLE"
  TextId group = 0;        // "Process Group Name", "comm id"
  TextId group_label = 0;  // "default_pg", "MPI_COMM_WORLD"
  TextId ranks = 0;        // "[0, 1]"
  std::int64_t bytes = -1, received_bytes = -1;
  std::int64_t elements_in = -1, elements_out = -1;
  std::int64_t group_size = -1, rank_in_group = -1;
  std::int64_t sequence = -1;
  std::int64_t peer = -1;                   // rank in the group
  std::int64_t from = -1, to = -1;          // ranks in the job: "Src Rank", "Dst Rank"
  std::int64_t polls = 0, in_calls_ns = 0;  // of an "MPI polling" event
};

/// An event [memory] or [OutOfMemory].
struct MemoryRecord {
  std::int64_t at_ns = 0, bytes = 0;
  std::uint32_t track = 0;
  std::int32_t device_type = 0;  // PyTorch's number: 0 = CPU, 1 = CUDA
  std::int32_t device_index = -1;
  std::int64_t address = 0;                    // 0 = not given
  std::int64_t allocated = -1, reserved = -1;  // the allocator's totals after it; -1 = not given
  bool failed = false;
};

/// The counts of counters.perf in a step or phase.
struct Counted {
  Counted() { counters.fill(-1); }
  bool any() const {
    return std::any_of(counters.begin(), counters.end(), [](double value) { return value >= 0; });
  }
  double operator[](PerfCounter counter) const { return counters[static_cast<std::size_t>(counter)]; }

  std::array<double, kPerfCounters> counters;  // times in microseconds; -1 = unknown
  double percent = -1;                         // share of the time that the hardware counters ran; unknown if all
};

/// An occurrence of a phase, or a part of one, with counters.
struct CountedPhase {
  TextId name = 0;
  bool resumed = false;  // see Slice
  Counted counted;
};

/// A whole step: an event ProfilerStep#N.
struct Step {
  std::int64_t number = 0, begin_ns = 0, duration_ns = 0;
  // CPU time and counters are those of its thread.
  std::int64_t cpu_ns = -1;  // -1 = unknown
  Counted counted;
  std::uint32_t track = 0;
};

enum class Dialect : std::uint8_t {
  kProfshim,
  kKineto,          // since 2024-04: times relative to baseTimeNanoseconds
  kKinetoAbsolute,  // before 2024-04: whole microseconds since the epoch
  kKineto2021,      // categories Operator, Runtime and Kernel
  kEventList,       // a bare list of events, from a PyTorch without Kineto
};

struct Timeline {
  std::string path;
  Dialect dialect = Dialect::kKinetoAbsolute;
  int rank = -1, world_size = -1;
  std::string backend, host;
  std::int64_t pid = -1;  // of the first host event
  std::int64_t base_time_ns = 0;
  bool complete = true;  // see RecordingInfo
  std::vector<std::string> missing;
  bool truncated = false;  // the file ends early
  /// If there are no slices, a sentence on the events that are there: "none of its 9 events has a duration (9
  /// instants)".
  std::string without_durations;
  std::uint64_t dropped = 0;
  bool profile_memory = false;
  std::optional<RecordingInfo> recording;  // only in traces of profshim
  std::optional<MergedRankInfo> merged;
  std::vector<std::string> warnings;  // each starts with the path

  Texts texts;
  std::vector<Track> tracks;
  std::vector<Slice> slices;  // in file order
  std::vector<Communication> communications;
  std::vector<MemoryRecord> memory;
  std::vector<Step> steps;  // sorted by time
  std::vector<CountedPhase> counted_phases;

  std::string_view name_of(const Slice& slice) const { return texts[slice.name]; }
};

struct TimelineOptions {
  bool input_dims = false;
};

/// Returns one timeline for each rank. Throws std::runtime_error with one line if the file is no trace or has no
/// events. A trace without slices has a warning. If the file ends early, sets `truncated` and a warning.
std::vector<Timeline> load_timelines(const std::string& path, const TimelineOptions& options = {});
/// `bytes` may be gzip. Returns the first timeline.
Timeline load_timeline_bytes(std::string_view bytes, const std::string& path, const TimelineOptions& options = {});

}  // namespace profshim::analysis_detail
