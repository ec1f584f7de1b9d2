#include "recorded_markers.h"

#include <algorithm>

#include "profshim/base/glob.h"

namespace profshim::session {

namespace {

class Markers {
 public:
  Markers(const spool::View& view, const StepRule& rule, std::int32_t tid, Ticks since, Ticks until)
      : view_(view), rule_(rule), since_(since), until_(until) {
    view.for_each_run([&](const spool::Run& run) {
      if (run.header->tid != tid) return;
      for (std::uint32_t i = 0; i < run.count; ++i) add(run.events[i]);
    });
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
      const spool::Thread& thread = view.thread(i);
      if (thread.tid.load(std::memory_order_relaxed) != tid) continue;
      for (std::uint32_t k = 0; k < std::min(thread.open_calls, spool::kMaxOpenCalls); ++k) {
        if (thread.open[k].begin != 0 && !rule.at_end) add(thread.open[k]);
      }
    }
    std::sort(found_.begin(), found_.end(),
              [](const RecordedMarker& a, const RecordedMarker& b) { return a.at < b.at; });
  }

  const std::vector<RecordedMarker>& found() const { return found_; }

 private:
  void add(const Event& event) {
    const Ticks at = rule_.at_end ? event.end : event.begin;
    if (at < since_ || at >= until_ || (event.flags & kAsyncSlice) != 0) return;
    if (rule_.source == StepSource::kCollective) {
      if (rule_.hooks[static_cast<std::size_t>(event.hook)]) found_.push_back({at, std::nullopt, 0});
      return;
    }
    const std::string_view name = view_.string(event.name);
    if (rule_.of_operators) {
      const bool is_operator = event.hook == HookId::kTorchOperator && glob_match(rule_.pattern, name);
      if (is_operator) found_.push_back({at, std::nullopt, event.name});
      return;
    }
    const bool torch = event.hook == HookId::kTorchRange;
    if (!torch && event.hook != HookId::kNvtxRange) return;
    const StepPattern* const pattern = matched_pattern(rule_, name, torch ? MarkerKind::kTorch : MarkerKind::kNvtx);
    if (pattern != nullptr) found_.push_back({at, number_of(rule_, *pattern, name), event.name});
  }

  const spool::View& view_;
  const StepRule& rule_;
  const Ticks since_, until_;
  std::vector<RecordedMarker> found_;
};

}  // namespace

std::vector<RecordedMarker> recorded_markers(const spool::View& view, const StepRule& rule, std::int32_t tid,
                                             Ticks since, Ticks until) {
  return Markers(view, rule, tid, since, until).found();
}

}  // namespace profshim::session
