// profshim summary --steps: what each ProfilerStep#N was spent on, from its own begin to its own end, by unions of
// intervals: what runs on two streams at a time counts once.
//
// Where devices worked ("device"): busy = at least one kernel, copy or memset ran on any device of the rank; compute =
// a kernel that communicates with nobody; communication = a collective kernel; exposed = a collective kernel and no
// other; idle = the rest of the step.
// Where none did ("host"): of the thread of the steps, busy = in a recorded call; communication = in a call that sends,
// receives or waits for others; compute = in other calls; exposed = communication; idle = in no recorded call, which
// says nothing about what the thread did there.
//
// A gap is a time longer than the threshold in which nothing ran: no work on devices, no call on the thread of the
// steps, no operator on other threads (but those that communicate: a thread that waits for messages all day fills no
// gap). It is before step n if n begins in it, else in its step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/model/intervals.h"
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
    std::int64_t step = -1, duration_ns = 0, after_begin_ns = 0;  // step: -1 = there are none
    bool before_step = false;
    std::string before, after;  // what ended last, what began next; "" = nothing in the steps
  };
  struct RankRows {
    std::vector<StepRow> steps;
    std::vector<Gap> gaps;
  };
  void add_steps(const Timeline& timeline, RankRows& rows);
  void add_gaps(const Timeline& timeline, RankRows& rows);
  void add_slowest(View& view) const;

  double gap_ns_;
  std::map<int, RankRows> ranks_;
};

}  // namespace profshim::analysis_detail
