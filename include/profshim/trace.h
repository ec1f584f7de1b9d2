// Trace files: events as Kineto writes them, a writer for a stream of them, a reader for any Kineto trace.
// design: the exact format is in src/trace/schema.h. Tool and writer thread only; never the job's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profshim/base/atomic_file.h"
#include "profshim/base/rank.h"

namespace profshim {

enum class Category : std::uint8_t {
  kNone,
  kCpuOp,
  kUserAnnotation,
  kTrace,
  kCpuInstantEvent,
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuUserAnnotation,
  kCudaRuntime,
  kCudaDriver,
  kCudaSync,
  kOverhead,
  kAc2g,      // flows from a launch to its device work
  kFwdBwd,    // flows from an operator to its backward function
  kRankFlow,  // flows between ranks, in merged traces: a message, a request, a collective's last member
};

/// A JSON text that is written as it stands (a list of ranks); the maker answers for its being valid.
struct RawJson {
  std::string_view text;
};
struct Arg {
  std::string_view key;
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view, RawJson> value;
};

/// One element of traceEvents. Times are nanoseconds since the epoch; the writer makes them relative to the base.
struct TraceEvent {
  char phase = 'X';  // X, M, i, b, n, e, s, t, f, C
  Category category = Category::kNone;
  std::string_view other_category;  // where that is kNone: one that profshim itself does not write
  std::string_view name;
  std::int64_t pid = 0, tid = 0;
  /// Written instead of the numbers when text_ids is set: "Spans", "Traces" and "" of Kineto's own marks.
  std::string_view pid_text, tid_text;
  bool text_ids = false;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  // X only
  std::uint64_t id = 0;          // b, n, e, s, t, f
  char scope = 't';              // i only: t, p, g
  std::span<const Arg> args;
};

/// What stands before traceEvents.
struct TraceHeader {
  Rank rank;
  std::string backend = "mpi";
  /// Elements of pg_config, in order: name, description, world ranks as "[0, 1]".
  struct Group {
    std::string name, description, ranks;
    std::int64_t size = 0;
    std::string backend;  // "mpi", "cuda:nccl"; "" = that of the header
  };
  std::vector<Group> groups;
  std::int64_t base_time_ns = 0;
  /// Elements of deviceProperties, each a JSON object, in the order of their ids.
  std::vector<std::string> devices;
  /// Members of the file beside those of the format, key and JSON value: "cupti_version".
  std::vector<std::pair<std::string, std::string>> members;
  /// Likewise of distributedInfo: "nccl_version".
  std::vector<std::pair<std::string, std::string>> distributed;
  /// Members of the "profshim" object, key and JSON value.
  std::vector<std::pair<std::string, std::string>> profshim;
  std::string trace_name;
};

/// 7889238 s steps, as Kineto: doubles then hold nanoseconds exactly.
std::int64_t base_time_for(std::int64_t unix_ns);

/// Takes bytes in order; false = stop (disk full). Implemented by files, gzip and tests.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual bool write(const char* data, std::size_t size) = 0;
  virtual bool close() = 0;
};
std::unique_ptr<ByteSink> file_sink(AtomicFile& file);
/// One gzip member made of blocks that are compressed in parallel by `threads` threads (0 = on the caller's; the same
/// when no thread can be had). Level 1 to 9. close() writes the end and closes `out`; a sink that was not closed is no
/// gzip.
std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> out, int level, int threads);

/// Streams one trace; never throws. After a failed write everything is a no-op. Names may hold anything: control
/// characters are escaped, what is no UTF-8 becomes U+FFFD.
class TraceWriter {
 public:
  TraceWriter(ByteSink& sink, const TraceHeader& header);
  ~TraceWriter();
  void write(const TraceEvent& event);
  /// Closes the array, writes the last key and hands over what is buffered; the sink stays open, its owner closes it.
  /// False when a write failed or bytes are missing.
  bool finish();
  std::uint64_t bytes() const;
  std::uint64_t events() const;
  bool failed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A JSON string literal with quotes, cleaned like the writer's names: for the values of TraceHeader::profshim.
std::string json_string(std::string_view text);

/// One event as read; views are valid during the callback only.
struct ReadEvent {
  std::string_view phase, category, name;
  // pid and tid as written: a number, or a text ("Spans")
  bool pid_is_number = false, tid_is_number = false, has_pid = false, has_tid = false;
  std::int64_t pid = 0, tid = 0;
  std::string_view pid_text, tid_text;
  bool has_name = false, has_ts = false, has_duration = false, has_id = false;
  double ts_us = 0, duration_us = 0;
  std::int64_t ts_ns = 0, duration_ns = 0;  // exact for three decimals
  bool finer_than_ns = false;               // ts or dur has more than three decimals: rounded in *_ns
  std::int64_t id = 0;                      // a text id is hashed
  std::string_view scope, binding_point;
  struct ReadArg {
    std::string_view key;
    enum class Kind : std::uint8_t { kNull, kBool, kInt, kDouble, kString, kJson } kind{};
    std::int64_t integer = 0;
    double number = 0;
    std::string_view text;  // kString: decoded; kJson: list or object as compact JSON; numbers: as written
  };
  std::span<const ReadArg> args;
  std::uint64_t offset = 0;  // byte position in the uncompressed file
};
struct TraceVisitor {
  /// Top-level key other than traceEvents, value as compact JSON. `before_events` = stands before traceEvents.
  std::function<void(std::string_view key, std::string_view json, bool before_events)> metadata;
  std::function<bool(const ReadEvent&)> event;  // false = stop
  /// Every byte of the uncompressed file, in order, in pieces; before the events they hold. For searches in the text.
  std::function<void(std::string_view piece)> bytes;
};
struct ReadResult {
  bool ok = false;
  std::string error;  // one line with the byte position
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // uncompressed
  bool truncated = false;
  bool bare_list = false;  // no object around the events: from a PyTorch without Kineto
  /// Objects in which a key stands twice: legal for some readers, different for others.
  std::uint64_t repeated_keys = 0;
  std::uint64_t repeated_key_at = 0;  // byte position of the first
  /// Why nothing can be done with what was read; "" when there are events, if only those before the file ends early.
  std::string useless() const;
};
/// Streams a trace, plain or gzip, without ever holding it whole.
ReadResult read_trace(const std::string& path, const TraceVisitor& visitor);
/// The same over bytes (fuzzing).
ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor);

/// Is the whole text one JSON value as every reader takes it: UTF-8, numbers in range, at most 64 levels deep?
bool valid_json(std::string_view json);

/// Every leaf of a JSON text in order, for small documents (metadata, manifests): path "pg_config.0.pg_name", "" for a
/// text that is one value; an empty list or object is a leaf of kind kJson ("[]", "{}"). False when it is no JSON.
bool json_leaves(std::string_view json,
                 const std::function<void(std::string_view path, const ReadEvent::ReadArg& value)>& leaf);

/// The elements of a JSON list, each a JSON text of its own; none for what is no list.
std::vector<std::string> json_elements(std::string_view json);
/// The value of a member of a JSON object, as a JSON text; "" for what is no object, or has no such member.
std::string json_part(std::string_view json, std::string_view key);

}  // namespace profshim
