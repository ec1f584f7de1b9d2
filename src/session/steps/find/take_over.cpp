#include <algorithm>
#include <exception>
#include <vector>

#include "profshim/base/glob.h"
#include "profshim/base/threads/uninterrupted.h"
#include "session/steps/earlier_markers.h"
#include "session/steps/steps.h"
#include "step_finder.h"

namespace profshim::session {
namespace {

struct Marker {
  Ticks at = 0;
  std::optional<std::int64_t> number;
  StringId name = 0;
};

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
    std::sort(found_.begin(), found_.end(), [](const Marker& a, const Marker& b) { return a.at < b.at; });
  }

  const std::vector<Marker>& found() const { return found_; }

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
  std::vector<Marker> found_;
};

void make_steps(State& s, const spool::View& view, const std::vector<Marker>& markers) {
  const std::vector<Anchor> anchors = view.anchors();
  const ClockMap clock(anchors, view.header().clock);
  const std::int64_t offset_ns = anchors.front().monotonic_ns - clock.unix_ns(anchors.front().ticks);
  for (const Marker& marker : markers) {
    const std::int64_t at_ns = clock.unix_ns(marker.at) + offset_ns;
    const std::optional<StepCounter::Step> step = s.counter.on_marker(at_ns, marker.number);
    if (step) begin_step(s, *step, {marker.at, at_ns, marker.name});
  }
}

}  // namespace

void take_over(State& s, Ticks until) {
  Search found = Search::kFound;
  if (!s.search.compare_exchange_strong(found, Search::kOver)) return;
  const StepRule& rule = *s.rule.load(std::memory_order_acquire);
  CounterRules rules = State::counter_rules(s.spec);
  rules.every *= rule.every;
  rules.at_end = rule.at_end;
  s.counter = StepCounter(rules);
  // A list names the job's own steps; a cycle only needs steps in a row.
  if (s.finder != nullptr && s.finder->keeps_all())
    s.counter.skip(earlier_markers(rule.pattern), s.spec.schedule.steps.empty());
  const Ticks since = s.kept_from.load();
  begin_first_step(s, since);
  try {
    std::string why_not;
    const auto view = spool::View::over(recorder::data(), recorder::size(), why_not);
    std::vector<Marker> markers;
    {
      const Uninterrupted no_handler_of_the_job;
      const std::lock_guard no_chunk_changes_hands(s.gathering);
      if (view != nullptr) markers = Markers(*view, rule, s.step_thread.load(), since, until).found();
    }
    if (view != nullptr) make_steps(s, *view, markers);
  } catch (const std::exception&) {  // no memory: the steps are counted from here
  }
  arm_for_step(s);
  stop_keeping(s);
}

}  // namespace profshim::session
