// The page about memory over time, from the [memory] events of one trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "profshim/analysis/report.h"
#include "profshim/trace/writer.h"

namespace profshim {

/// Reads a trace of one rank, or a merged one. Throws std::runtime_error with one line if the file is no trace or has
/// no memory events. report_page() makes the page.
Report make_memory_report(const std::string& path);

/// Makes the same report of a trace that is being written, without reading it again.
class WrittenMemory {
 public:
  /// Gives up if it needs more memory.
  explicit WrittenMemory(std::uint64_t most_bytes);
  ~WrittenMemory();

  /// For TraceWriter. If the trace is written again, under another name, the last time counts.
  TraceObserver& observer();
  bool has_begun() const;
  /// Call after the last event. Returns why there is no report, as a sentence without a full stop; "" = there is one.
  std::string why_not();
  /// False if the trace has no memory events.
  bool has_events() const;
  /// Call only if why_not() is empty and has_events().
  Report report();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim
