// profshim summary --steps: how each ProfilerStep#N spent its time, from its begin to its end. Overlapping activity
// counts once.
//
// If devices were active ("device"): busy = at least one kernel, copy or memset ran on any device of the rank; compute
// = a kernel ran that does not communicate; communication = a collective kernel ran; exposed = a collective kernel ran
// and no other; idle = the rest of the step. If no device was active ("host"), the times are those of the steps'
// thread: busy = in a recorded call; communication = in a call that sends, receives or waits for other ranks; compute =
// in another call; exposed = communication; idle = in no recorded call, whatever the thread did.
//
// A gap is a time longer than the threshold without device activity, without calls on the steps' thread, and without
// operators on other threads. Operators that communicate do not count there: a thread that always waits for messages
// would fill every gap. A gap in which step n begins is "before" step n, any other gap is "in" its step.
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
    std::int64_t number = 0, duration_ns = 0;
    double busy_ns = 0, compute_ns = 0, communication_ns = 0, exposed_ns = 0;
    bool on_device = false;
  };
  struct Gap {
    std::int64_t step = -1;  // -1 = the trace has no steps, or the gap is before the first
    std::int64_t duration_ns = 0;
    std::int64_t after_begin_ns = 0;  // from the begin of the step; < 0 if the gap began before it
    bool before_step = false;
    std::string before, after;  // names of the last event that ended and of the next that began; "" = none in the steps
  };
  struct RankRows {
    std::vector<StepRow> steps;
    std::vector<Gap> gaps;
  };
  void add_steps(const Timeline& timeline, RankRows& rows);
  void add_gaps(const Timeline& timeline, RankRows& rows);
  void add_step_tables(View& view) const;
  void add_slowest_table(View& view) const;
  void add_gap_table(View& view);

  double gap_ns_;
  std::map<int, RankRows> ranks_;
};

}  // namespace profshim::analysis_detail
