// Writes a trace file as a stream: the head of the file first, then one event at a time, into a sink for bytes (a file,
// gzip). It is the only code that writes events, millions of them, and so renders them itself; JsonWriter writes all
// other JSON. Tool and writer thread only; never the job's threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profshim/base/atomic_file.h"
#include "profshim/base/rank.h"
#include "profshim/trace/events.h"

namespace profshim {

/// Everything that the writer puts in front of traceEvents.
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
  /// More top-level members, key and JSON value: "cupti_version".
  std::vector<std::pair<std::string, std::string>> members;
  /// More members of distributedInfo, key and JSON value: "nccl_version".
  std::vector<std::pair<std::string, std::string>> distributed;
  /// Members of the "profshim" object, key and JSON value.
  std::vector<std::pair<std::string, std::string>> profshim;
  std::string trace_name;
};

/// Returns the base time of a trace that holds `unix_ns`: a multiple of 7889238 s, as in Kineto. Doubles then hold
/// nanoseconds exactly.
std::int64_t base_time_for(std::int64_t unix_ns);

/// Takes bytes in order. Returns false if the writer should stop (disk full).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual bool write(const char* data, std::size_t size) = 0;
  virtual bool close() = 0;
};
std::unique_ptr<ByteSink> file_sink(AtomicFile& file);
/// Writes one gzip member whose blocks `threads` threads compress in parallel; 0, or a failure to start a thread, means
/// the caller's thread. Level 1 to 9. close() writes the end and closes `out`; without it the file is not valid gzip.
std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> out, int level, int threads);

/// Streams one trace; never throws. After a failed write all calls do nothing. Names may hold any bytes: control
/// characters are escaped, bytes that are not UTF-8 become U+FFFD.
class TraceWriter {
 public:
  TraceWriter(ByteSink& sink, const TraceHeader& header);
  ~TraceWriter();
  void write(const TraceEvent& event);
  /// Closes the array, writes the last key and flushes the buffer; the owner of the sink closes it. Returns false if a
  /// write failed.
  bool finish();
  std::uint64_t bytes() const;
  std::uint64_t events() const;
  bool failed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim
