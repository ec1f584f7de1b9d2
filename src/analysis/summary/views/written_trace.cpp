#include "profshim/analysis/written_trace.h"

#include "analysis/model/while_writing/written_timeline.h"
#include "analysis/summary/table/key_averages.h"
#include "view_set.h"

namespace profshim {

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
