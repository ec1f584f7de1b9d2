#include "profshim/analysis/views.h"

#include "analysis/model/one_job.h"
#include "analysis/model/while_writing/written_timeline.h"
#include "analysis/summary/table/key_averages.h"
#include "profshim/analysis/written_trace.h"
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

struct WrittenTrace::Impl {
  analysis_detail::WrittenTimeline timeline;
};

WrittenTrace::WrittenTrace(std::uint64_t most_bytes)
    : impl_(new Impl{analysis_detail::WrittenTimeline(most_bytes / kBytesPerEvent)}) {}
WrittenTrace::~WrittenTrace() = default;

TraceObserver& WrittenTrace::observer() { return impl_->timeline; }
bool WrittenTrace::has_begun() const { return impl_->timeline.has_begun(); }

std::string WrittenTrace::why_not() {
  return impl_->timeline.timeline() != nullptr ? std::string() : impl_->timeline.why_not();
}

Views WrittenTrace::views(const ViewChoice& choice) {
  analysis_detail::ViewSet views(choice);
  views.add(*impl_->timeline.timeline());
  return views.finish();
}

KeyTable WrittenTrace::key_averages() {
  analysis_detail::KeyAverages averages(false);
  averages.add(*impl_->timeline.timeline(), -1);
  return averages.finish();
}

}  // namespace profshim
