#include "profshim/analysis/views.h"

#include "analysis/model/one_job.h"
#include "view_set.h"

namespace profshim {
namespace analysis_detail {

void ViewSet::add(const Timeline& timeline) {
  if (choice_.kernels) kernels_.add(timeline, timeline.rank);
  if (choice_.steps) steps_.add(timeline, timeline.rank);
  if (choice_.comms) comms_.add(timeline, timeline.rank);
  if (choice_.mpi) mpi_.add(timeline, timeline.rank);
  if (choice_.phases) phases_.add(timeline, timeline.rank);
  result_.truncated = result_.truncated || timeline.truncated;
  result_.warnings.insert(result_.warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
}

Views ViewSet::finish() {
  if (choice_.kernels) result_.views.push_back(kernels_.finish());
  if (choice_.steps) result_.views.push_back(steps_.finish());
  if (choice_.comms) result_.views.push_back(comms_.finish());
  if (choice_.mpi) result_.views.push_back(mpi_.finish());
  if (choice_.phases) result_.views.push_back(phases_.finish());
  return std::move(result_);
}

}  // namespace analysis_detail

Views make_views(const std::vector<std::string>& paths, const ViewChoice& choice) {
  using namespace analysis_detail;
  ViewSet views(choice);
  OneJob job;
  for (const std::string& path : paths) {
    for (const Timeline& timeline : load_timelines(path)) {
      if (!choice.several_runs) job.add(timeline);
      views.add(timeline);
    }
  }
  return views.finish();
}

}  // namespace profshim
