// The events of one rank's trace file in memory, for analyses that need more than one pass. Holds traces of profshim
// and of every generation of Kineto (format: src/trace/schema.h). An event takes 72 bytes; each text is stored once,
// and arguments that no analysis reads are dropped. Tool only; nothing here is shared between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/trace/metadata.h"
#include "texts.h"

namespace profshim::analysis_detail {

/// Category ("cat") of an event, the same for all generations of the format.
enum class Kind : std::uint8_t {
  kOther,
  kCpuOp,
  kUserAnnotation,
  kPythonFunction,
  kRuntime,  // CUDA runtime API calls
  kDriver,   // CUDA driver API calls
  kOverhead,
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,  // a range on a device stream
  kSync,           // synchronization, and CUDA events recorded in a stream
};
/// Returns true for kinds that occupy a host thread and have rows in the table of key_averages().
constexpr bool is_host(Kind kind) {
  return kind == Kind::kCpuOp || kind == Kind::kUserAnnotation || kind == Kind::kRuntime || kind == Kind::kDriver ||
         kind == Kind::kOverhead;
}
/// Returns true for device activity: kernels, copies and memsets.
constexpr bool is_device_work(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset;
}

/// A thread of a process, or a stream of a device (pid = device, tid = stream).
struct Track {
  std::int64_t pid = 0, tid = 0;
  TextId pid_text = 0, tid_text = 0;  // used instead of the number if the file has a text there; 0 = it has a number
  bool operator==(const Track&) const = default;
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A complete event, or an asynchronous begin and end pair.
struct Slice {
  std::int64_t begin_ns = 0;  // since the epoch if the file has a base time, otherwise as in the file
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;  // joins a call with the device activity that it launched; 0 = none
  std::int64_t external_id = 0;  // joins an operator with its calls and their device activity; 0 = none
  std::int64_t bytes = -1;       // size of a copy or memset; -1 = not given
  std::int64_t flops = 0;        // floating-point operations of an operator (capture.with_flops)
  TextId name = 0;
  std::uint32_t track = 0;              // index in Timeline::tracks
  std::uint32_t communication = kNone;  // index in Timeline::communications
  TextId input_dims = 0;                // compact JSON; 0 unless TimelineOptions::input_dims
  Kind kind = Kind::kOther;
  bool asynchronous = false;  // a begin and end pair; occupies no thread
  bool unfinished = false;    // still running when the trace ended: the true duration is longer
  std::int64_t end_ns() const { return begin_ns + duration_ns; }
};
static_assert(sizeof(Slice) <= 72);

/// Arguments of an event that communicates: record_param_comms, NCCL and MPI calls, NCCL kernels. -1 or 0 = not given.
struct Communication {
  TextId collective = 0;   // "allreduce"; 0 for MPI calls, whose name says it
  TextId dtype = 0;        // "Float", "MPI_DOUBLE"
  TextId group = 0;        // identifies the group: "Process Group Name", "comm id"
  TextId group_label = 0;  // name of the group for people: "default_pg", "MPI_COMM_WORLD"
  TextId ranks = 0;        // "[0, 1]"
  std::int64_t bytes = -1, received_bytes = -1;
  std::int64_t elements_in = -1, elements_out = -1;
  std::int64_t group_size = -1, rank_in_group = -1;
  std::int64_t sequence = -1;
  std::int64_t peer = -1;           // rank in the group: root, peer, dest, source or target
  std::int64_t from = -1, to = -1;  // ranks in the job: "Src Rank", "Dst Rank"
  // An "MPI polling" event stands for many calls: their number, and the time spent in them.
  std::int64_t polls = 0, in_calls_ns = 0;
};

/// An allocation or release ([memory]), or a failed allocation ([OutOfMemory]).
struct MemoryRecord {
  std::int64_t at_ns = 0, bytes = 0;
  std::uint32_t track = 0;
  std::int32_t device_type = 0;  // PyTorch's number: 0 = CPU, 1 = CUDA
  std::int32_t device_index = -1;
  bool failed = false;  // [OutOfMemory]
};

/// A ProfilerStep#N of the process.
struct Step {
  std::int64_t number = 0, begin_ns = 0, duration_ns = 0;
  std::uint32_t track = 0;
};

/// Program and generation of the format that wrote the file.
enum class Dialect : std::uint8_t {
  kProfshim,
  kKineto,          // since 2024-04: times relative to baseTimeNanoseconds
  kKinetoAbsolute,  // before: whole microseconds since the epoch
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
  bool complete = true;       // false: the end of the job cut the window
  bool truncated = false;     // the file ends early; holds the events before its end
  std::uint64_t dropped = 0;  // events that the recorder lost, by its own count
  bool profile_memory = false;
  std::optional<RecordingInfo> recording;  // absent in traces of others
  std::optional<MergedRankInfo> merged;    // set for a rank of a merged trace
  std::vector<std::string> warnings;       // problems of the file, one sentence each, starting with the path

  Texts texts;
  std::vector<Track> tracks;
  std::vector<Slice> slices;  // in the order of the file
  std::vector<Communication> communications;
  std::vector<MemoryRecord> memory;
  std::vector<Step> steps;  // by time

  std::string_view name_of(const Slice& slice) const { return texts[slice.name]; }
};

struct TimelineOptions {
  bool input_dims = false;  // keep "Input Dims"
};

/// Loads a file: one timeline, or one for each rank of a merged trace. Throws std::runtime_error with one line that
/// starts with the path if the file is not a trace or has no events. If the file ends early, returns the events before
/// its end, with `truncated` set and a warning.
std::vector<Timeline> load_timelines(const std::string& path, const TimelineOptions& options = {});
/// Does the same for bytes, plain or gzip; returns the first timeline.
Timeline load_timeline_bytes(std::string_view bytes, const std::string& path, const TimelineOptions& options = {});

}  // namespace profshim::analysis_detail
