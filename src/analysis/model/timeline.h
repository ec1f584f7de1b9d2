// The traces of a file in memory, for everything that asks more of it than one pass can answer: ours and Kineto's own,
// of every generation (README of the format: src/trace/schema.h). Rows of 72 bytes, every text once; arguments
// that no analysis asks for are not kept.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/trace/metadata.h"

namespace profshim::analysis_detail {

/// Number of a text in a Texts; 0 = "".
using TextId = std::uint32_t;

/// Every text once.
class Texts {
 public:
  Texts() { add(""); }
  Texts(Texts&&) = default;  // no copies: the index holds views of what is kept
  Texts& operator=(Texts&&) = default;
  TextId add(std::string_view text);
  std::string_view operator[](TextId id) const { return kept_[id]; }
  std::size_t size() const { return kept_.size(); }

 private:
  std::deque<std::string> kept_;  // addresses stay
  std::unordered_map<std::string_view, TextId> ids_;
};

/// What `cat` says, in the words of all generations.
enum class Kind : std::uint8_t {
  kOther,
  kCpuOp,
  kUserAnnotation,
  kPythonFunction,
  kRuntime,  // calls of the runtime's API
  kDriver,
  kOverhead,
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,  // a range as a stream saw it
  kSync,           // waits, and events that mark a point in a stream
};
/// Runs on a thread of the process and is a row of the table.
constexpr bool is_host(Kind kind) {
  return kind == Kind::kCpuOp || kind == Kind::kUserAnnotation || kind == Kind::kRuntime || kind == Kind::kDriver ||
         kind == Kind::kOverhead;
}
constexpr bool is_device_work(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset;
}

/// A thread of a process, or a stream of a device (pid = device, tid = stream). As written: a number, or a text.
struct Track {
  std::int64_t pid = 0, tid = 0;
  TextId pid_text = 0, tid_text = 0;  // instead of the number when not 0
  bool operator==(const Track&) const = default;
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A complete event, or an asynchronous pair.
struct Slice {
  std::int64_t begin_ns = 0;  // since the epoch, where the file says from when it counts
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;  // 0 = none; joins a call and what it launched
  std::int64_t external_id = 0;  // 0 = none; joins an operator, its calls and what they launched
  std::int64_t bytes = -1;       // of a copy or memset; -1 = not said
  std::int64_t flops = 0;        // floating-point operations of an operator (capture.with_flops)
  TextId name = 0;
  std::uint32_t track = 0;              // in Timeline::tracks
  std::uint32_t communication = kNone;  // in Timeline::communications
  TextId input_dims = 0;                // compact JSON; only where it was asked for
  Kind kind = Kind::kOther;
  bool asynchronous = false;  // from a b to its e, by no thread in particular
  bool unfinished = false;    // had not ended when the trace did: it lasted longer than this
  std::int64_t end_ns() const { return begin_ns + duration_ns; }
};
static_assert(sizeof(Slice) <= 72);

/// Arguments of what sends, receives or waits: record_param_comms, NCCL and MPI calls, NCCL kernels. -1 or 0 = not
/// said.
struct Communication {
  TextId collective = 0;   // "allreduce"; MPI calls say it by their name
  TextId dtype = 0;        // "Float", "MPI_DOUBLE"
  TextId group = 0;        // what tells groups apart: "Process Group Name", "comm id"
  TextId group_label = 0;  // for people: "default_pg", "MPI_COMM_WORLD"
  TextId ranks = 0;        // "[0, 1]"
  std::int64_t bytes = -1, received_bytes = -1;
  std::int64_t elements_in = -1, elements_out = -1;
  std::int64_t group_size = -1, rank_in_group = -1;
  std::int64_t sequence = -1;
  std::int64_t peer = -1;           // root, peer, dest, source or target, in the group
  std::int64_t from = -1, to = -1;  // "Src Rank", "Dst Rank": of the job
  // Of "MPI polling", which stands for many calls:
  std::int64_t polls = 0, in_calls_ns = 0;  // how many, and how long they took
};

/// [memory] and [OutOfMemory].
struct MemoryRecord {
  std::int64_t at_ns = 0, bytes = 0;
  std::uint32_t track = 0;
  std::int32_t device_type = 0;  // 0 = CPU, 1 = CUDA, as in PyTorch
  std::int32_t device_index = -1;
  bool failed = false;  // [OutOfMemory]
};

/// A ProfilerStep#N of the process.
struct Step {
  std::int64_t number = 0, begin_ns = 0, duration_ns = 0;
  std::uint32_t track = 0;
};

/// Who wrote it, and when.
enum class Dialect : std::uint8_t {
  kProfshim,
  kKineto,          // since 2024-04: times relative to baseTimeNanoseconds
  kKinetoAbsolute,  // before: whole microseconds since the epoch
  kKineto2021,      // cat Operator, Runtime, Kernel
  kEventList,       // a bare list, from a PyTorch without Kineto
};

struct Timeline {
  std::string path;
  Dialect dialect = Dialect::kKinetoAbsolute;
  int rank = -1, world_size = -1;
  std::string backend, host;
  std::int64_t pid = -1;  // of the first host event
  std::int64_t base_time_ns = 0;
  bool complete = true;       // no window that the end of the job cut
  bool truncated = false;     // the file ends early: what is here is what stood before
  std::uint64_t dropped = 0;  // events that the recorder lost, by its own count
  bool profile_memory = false;
  std::optional<RecordingInfo> recording;  // absent in traces of others
  std::optional<MergedRankInfo> merged;    // of a rank of a merged trace
  /// What was not as it should be, one sentence each, beginning with the path.
  std::vector<std::string> warnings;

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

/// One for each rank: of a merged trace several. Throws std::runtime_error with one line, that begins with the path,
/// for what is no trace or holds no events. A file that ends early is read as far as it goes (truncated, and a
/// warning).
std::vector<Timeline> load_timelines(const std::string& path, const TimelineOptions& options = {});
/// The same from bytes, plain or gzip; the first of them.
Timeline load_timeline_bytes(std::string_view bytes, const std::string& path, const TimelineOptions& options = {});

}  // namespace profshim::analysis_detail
