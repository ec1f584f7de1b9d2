#include "one_job.h"

#include <stdexcept>

namespace profshim::analysis_detail {

void OneJob::add(const Timeline& timeline) {
  Seen seen{.path = timeline.path, .world_size = timeline.world_size};
  if (timeline.recording) seen.run_name = timeline.recording->run_name;
  if (!seen.run_name.empty()) {
    const Seen& other = runs_.emplace(timeline.host, seen).first->second;
    if (other.run_name != seen.run_name) {
      throw std::runtime_error(other.path + " is of run " + other.run_name + ", " + seen.path + " of run " +
                               seen.run_name + ": name the traces of one job");
    }
  }
  if (seen.world_size < 1) return;
  if (sized_.world_size < 1) sized_ = seen;
  if (sized_.world_size == seen.world_size) return;
  throw std::runtime_error(sized_.path + " is of a job of " + std::to_string(sized_.world_size) +
                           (sized_.world_size == 1 ? " rank, " : " ranks, ") + seen.path + " of a job of " +
                           std::to_string(seen.world_size) + ": name the traces of one job");
}

}  // namespace profshim::analysis_detail
