// Checklist items (checklist.cpp) about single events and marks.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "findings.h"

namespace profshim::analysis_detail {

class EventChecks {
 public:
  explicit EventChecks(Findings& findings) : findings_(findings) {}
  /// Takes events in file order.
  void on_event(const ReadEvent& event);
  void finish();

 private:
  void fields(const ReadEvent& event);
  void slice(const ReadEvent& event);
  void host_row(const ReadEvent& event);
  void names(const ReadEvent& event);
  void marks(const ReadEvent& event);
  void window();

  Findings& findings_;
  bool first_ = true, span_ = false, iteration_mark_ = false, last_is_end_mark_ = false;
  std::int64_t first_begin_ = std::numeric_limits<std::int64_t>::max(), last_begin_ = -1, last_end_ = 0;
  std::uint64_t first_where_ = 0, last_where_ = 0;
  std::int64_t span_begin_ = 0, span_end_ = 0, end_mark_ns_ = 0;
  std::set<std::int64_t> pids_, named_pids_;
  std::set<std::pair<std::int64_t, std::int64_t>> threads_, named_threads_;
};

}  // namespace profshim::analysis_detail
