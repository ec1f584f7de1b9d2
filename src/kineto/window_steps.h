#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profshim/spool/view.h"
#include "slice_order.h"

namespace profshim::kineto {

class WindowSteps {
 public:
  WindowSteps() = default;
  /// `last_step_end`: end of the last step's marker range; 0 = unknown. `cuts_first`: step 0 is incomplete.
  WindowSteps(std::vector<spool::StepMark> marks, Ticks last_step_end, bool cuts_first);
  /// The boundary at which the window ends.
  void set_next_mark(const spool::StepMark& mark) { next_ = mark; }
  /// The counters at each mark, and at the boundary at which the window ends.
  void set_counters(std::vector<PerfReading> counters) { counters_ = std::move(counters); }
  /// Ends the last step at `end` if its own end is unknown or later. `is_boundary`: a step ends there.
  void set_window_end(Ticks end, bool is_boundary);

  bool empty() const { return marks_.empty(); }
  std::size_t size() const { return marks_.size(); }
  const std::vector<spool::StepMark>& marks() const { return marks_; }
  Ticks last_step_end() const { return last_step_end_; }
  Slice slice(std::size_t i) const;
  bool is_complete(std::size_t i) const;
  /// CPU time that the step thread used in the step.
  std::optional<std::int64_t> cpu_ns(std::size_t i) const;
  /// Growth of the counters in the step; knows no value if one of its ends has none.
  PerfReading counted(std::size_t i) const;
  const std::int64_t* number_at(Ticks t) const;

 private:
  /// True if the step ends at the next mark.
  bool ends_at_mark(std::size_t i) const { return next_mark(i).ticks == slice(i).end; }
  const spool::StepMark& next_mark(std::size_t i) const { return i + 1 < marks_.size() ? marks_[i + 1] : next_; }

  std::vector<spool::StepMark> marks_;
  std::vector<PerfReading> counters_;
  spool::StepMark next_ = {};
  Ticks last_step_end_ = 0, window_end_ = 0;
  bool cuts_first_ = false, cuts_last_ = true;
};

}  // namespace profshim::kineto
