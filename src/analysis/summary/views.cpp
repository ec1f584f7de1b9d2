#include "profshim/analysis/views.h"

#include "analysis/model/one_job.h"
#include "analysis/model/timeline.h"
#include "analysis/summary/comms/comms_view.h"
#include "kernels_view.h"
#include "mpi_view.h"
#include "phases_view.h"
#include "steps_view.h"

namespace profshim {

Views make_views(const std::vector<std::string>& paths, const ViewChoice& choice) {
  using namespace analysis_detail;
  KernelsView kernels;
  StepsView steps(choice.gap_us);
  CommsView comms;
  MpiView mpi;
  PhasesView phases;
  OneJob job;
  Views result;
  for (const std::string& path : paths) {
    for (const Timeline& timeline : load_timelines(path)) {
      if (!choice.several_runs) job.add(timeline);
      if (choice.kernels) kernels.add(timeline, timeline.rank);
      if (choice.steps) steps.add(timeline, timeline.rank);
      if (choice.comms) comms.add(timeline, timeline.rank);
      if (choice.mpi) mpi.add(timeline, timeline.rank);
      if (choice.phases) phases.add(timeline, timeline.rank);
      result.truncated = result.truncated || timeline.truncated;
      result.warnings.insert(result.warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
    }
  }
  if (choice.kernels) result.views.push_back(kernels.finish());
  if (choice.steps) result.views.push_back(steps.finish());
  if (choice.comms) result.views.push_back(comms.finish());
  if (choice.mpi) result.views.push_back(mpi.finish());
  if (choice.phases) result.views.push_back(phases.finish());
  return result;
}

}  // namespace profshim
