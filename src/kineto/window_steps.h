#pragma once

#include <cstdint>
#include <vector>

#include "profshim/spool/view.h"
#include "slice_order.h"

namespace profshim::kineto {

class WindowSteps {
 public:
  WindowSteps() = default;
  /// `last_step_end`: end of the last step's marker range; 0 = unknown. `cuts_first`: step 0 is incomplete.
  WindowSteps(std::vector<spool::StepMark> marks, Ticks last_step_end, bool cuts_first);
  /// Ends the last step at `end` if its own end is unknown or later. `is_boundary`: a step ends there.
  void set_window_end(Ticks end, bool is_boundary);

  bool empty() const { return marks_.empty(); }
  std::size_t size() const { return marks_.size(); }
  const std::vector<spool::StepMark>& marks() const { return marks_; }
  Ticks last_step_end() const { return last_step_end_; }
  Slice slice(std::size_t i) const;
  bool is_complete(std::size_t i) const;
  const std::int64_t* number_at(Ticks t) const;

 private:
  std::vector<spool::StepMark> marks_;
  Ticks last_step_end_ = 0, window_end_ = 0;
  bool cuts_first_ = false, cuts_last_ = true;
};

}  // namespace profshim::kineto
