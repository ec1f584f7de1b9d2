// profshim summary --steps: how each ProfilerStep#N spent its time. Overlaps count once.
//
// CPU = the CPU time of the thread with the steps; only traces of profshim have it.
//
// On a "device": busy = any device of the rank is active; compute = a kernel that does not communicate runs;
// communication = a collective kernel runs; exposed = communication without compute; idle = not busy.
// On the "host", if no device was active: busy = the thread with the steps is in a recorded call; communication = the
// call sends, receives or waits for ranks; compute = the call does none of these.
//
// A gap is longer than the threshold and has no device activity, no call on the thread with the steps, and no operator
// on another thread. Communication on another thread does not end a gap: such a thread may always wait for messages. A
// gap in which step n begins is "before" step n.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class StepsView {
 public:
  explicit StepsView(double gap_us) : gap_ns_(gap_us * 1000) {}
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  struct StepRow {
    Step step;
    double busy_ns = 0, compute_ns = 0, communication_ns = 0, exposed_ns = 0;
    bool on_device = false;
  };
  struct Gap {
    std::int64_t step = -1;
    std::int64_t duration_ns = 0;
    std::int64_t after_begin_ns = 0;  // from the step's begin to the gap
    bool before_step = false;
    std::string before, after;  // names of the slices around the gap
  };
  struct RankRows {
    std::vector<StepRow> steps;
    std::vector<Gap> gaps;
  };
  void add_steps(const Timeline& timeline, RankRows& rows);
  void add_gaps(const Timeline& timeline, RankRows& rows);
  void add_step_table(View& view) const;
  void add_rank_table(View& view) const;
  void add_slowest_table(View& view) const;
  void add_gap_table(View& view);

  double gap_ns_;
  std::map<int, RankRows> ranks_;
};

}  // namespace profshim::analysis_detail
