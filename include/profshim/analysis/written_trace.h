// The answers of `profshim summary` for a trace that is being written, without reading it again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "profshim/analysis/summary.h"
#include "profshim/analysis/views.h"
#include "profshim/trace/writer.h"

namespace profshim {

class WrittenTrace {
 public:
  /// Memory that it takes for each event, the tables included; measured with MPI calls, whose arguments are the
  /// largest.
  static constexpr std::uint64_t kBytesPerEvent = 400;

  /// Has no answers for a trace that needs more memory.
  explicit WrittenTrace(std::uint64_t most_bytes);
  ~WrittenTrace();

  /// For TraceWriter. If the trace is written again, under another name, the last time counts.
  TraceObserver& observer();
  bool has_begun() const;
  /// Call after the last event. Returns why there are no answers, as a sentence without a full stop; "" = there are.
  std::string why_not();
  /// As make_views() and key_averages() of the file. Call only if why_not() is empty.
  Views views(const ViewChoice& choice);
  KeyTable key_averages();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim
