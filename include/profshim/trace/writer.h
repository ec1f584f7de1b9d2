#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/base/atomic_file.h"
#include "profshim/base/rank.h"
#include "profshim/trace/events.h"

namespace profshim {

struct TraceHeader {
  Rank rank;
  std::string backend = "mpi";
  /// An element of pg_config. `ranks`: world ranks as "[0, 1]".
  struct Group {
    std::string name, description, ranks;
    std::int64_t size = 0;
    std::string backend;  // "mpi", "cuda:nccl"; "" = the header's
  };
  std::vector<Group> groups;
  std::int64_t base_time_ns = 0;
  /// Elements of deviceProperties, as JSON.
  std::vector<std::string> devices;
  /// More members as key and JSON value: at top level, in distributedInfo, in the "profshim" object.
  std::vector<std::pair<std::string, std::string>> members;
  std::vector<std::pair<std::string, std::string>> distributed;
  std::vector<std::pair<std::string, std::string>> profshim;
  std::string trace_name;
};

/// Returns a multiple of 7889238 s, as in Kineto, for events at `unix_ns`. Nanoseconds since the base are exact in a
/// double.
std::int64_t base_time_for(std::int64_t unix_ns);

/// Functions return false if the writer should stop (disk full).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual bool write(const char* data, std::size_t size) = 0;
  virtual bool close() = 0;
};
std::unique_ptr<ByteSink> file_sink(AtomicFile& file);
/// Writes one gzip member to `out`, at level 1 to 9. Compresses on `threads` threads, or on the caller's if none can be
/// started. close() also closes `out`.
std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> out, int level, int threads);

/// Chooses the events of a trace.
class EventFilter {
 public:
  virtual ~EventFilter() = default;
  /// Sees each event, in the order of the trace.
  virtual bool keeps(const TraceEvent& event) = 0;
};

/// Sees a trace as it is written, on the thread that writes it.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  /// `path`: TraceHeader::trace_name. `head`: the JSON before the first event.
  virtual void begin(const std::string& path, std::string_view head) noexcept = 0;
  /// An event of the trace, with the times that it shows: since the base time.
  virtual void event(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) noexcept = 0;
};

/// Writes a Kineto trace as a stream. Never throws. After a failed write all calls do nothing. Names may hold any
/// bytes: those that are not UTF-8 become U+FFFD.
class TraceWriter {
 public:
  /// `filter`: null = all events are written. `observer`: sees the events that are written; may be null.
  TraceWriter(ByteSink& sink, const TraceHeader& header, EventFilter* filter = nullptr,
              TraceObserver* observer = nullptr);
  ~TraceWriter();
  void write(const TraceEvent& event);
  /// Ends the JSON and flushes; the sink's owner closes it. Returns false if a write failed.
  bool finish();
  std::uint64_t bytes() const;
  std::uint64_t events() const;
  bool failed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim
