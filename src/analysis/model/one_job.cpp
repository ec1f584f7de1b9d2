#include "one_job.h"

#include <stdexcept>

namespace profshim::analysis_detail {

void OneJob::add(const Trace& trace) {
  if (!trace.run_name.empty()) {
    const Trace& other = runs_.emplace(trace.host, trace).first->second;
    if (other.run_name != trace.run_name) {
      throw std::runtime_error(other.path + " is of run " + other.run_name + ", " + trace.path + " of run " +
                               trace.run_name + ": name the traces of one job");
    }
  }
  if (trace.world_size < 1) return;
  if (sized_.world_size < 1) sized_ = trace;
  if (sized_.world_size == trace.world_size) return;
  throw std::runtime_error(sized_.path + " is of a job of " + std::to_string(sized_.world_size) +
                           (sized_.world_size == 1 ? " rank, " : " ranks, ") + trace.path + " of a job of " +
                           std::to_string(trace.world_size) + ": name the traces of one job");
}

void OneJob::add(const Timeline& timeline) {
  add({timeline.path, timeline.host, timeline.recording ? timeline.recording->run_name : "", timeline.world_size});
}

}  // namespace profshim::analysis_detail
