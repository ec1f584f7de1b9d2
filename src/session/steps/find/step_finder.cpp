#include "step_finder.h"

#include <algorithm>
#include <exception>

#include "recorded_calls.h"
#include "session/steps/steps.h"
#include "session/steps/window_control.h"

namespace profshim::session {
namespace {

constexpr std::uint64_t kMostEvents = 1u << 18;  // 16 MiB
constexpr std::size_t kMostCalls = 1u << 16;
constexpr std::int64_t kFirstPause_ns = 1'000'000'000, kLongestPause_ns = 600'000'000'000;
/// A look may take this part of the collector's time.
constexpr std::int64_t kPartOfTime = 20;

}  // namespace

StepFinder::StepFinder(State& state) : s_(state) {
  std::string why_not;
  view_ = spool::View::over(recorder::data(), recorder::size(), why_not);
}

void StepFinder::begin() {
  began_ns_ = monotonic_ns();
  events_before_ = events_looked_at_ = recorder::events_committed();
  next_look_ns_ = 0;
  s_.kept_from.store(ticks());
  s_.search.store(Search::kRunning);
  recorder::set_mode(recorder::kArmed, 0);
  arm_others(s_, 0);
}

void StepFinder::tick() {
  const Search search = s_.search.load();
  const std::int64_t now = monotonic_ns();
  if (search == Search::kPaused && now >= resume_ns_) return begin();
  if (search != Search::kRunning) return;
  const std::uint64_t events = recorder::events_committed(), seen = events_looked_at_ - events_before_;
  const bool is_full = events - events_before_ > kMostEvents;
  // New evidence: a quarter more events.
  if (!is_full && (now < next_look_ns_ || events - events_looked_at_ <= seen / 4)) return;
  events_looked_at_ = events;
  try {
    const std::lock_guard lock(mutex_);
    Result result = look();
    next_look_ns_ = monotonic_ns() + kPartOfTime * (monotonic_ns() - now);
    const bool is_over = is_full || result.calls > kMostCalls;
    if (result.is_settled || (is_over && result.rule != nullptr)) return use(result);
    if (is_over) pause();
  } catch (const std::exception&) {  // no memory
    pause();
  }
}

StepFinder::Result StepFinder::look() {
  Result result;
  if (view_ == nullptr) return result;
  const std::lock_guard no_chunk_changes_hands(s_.gathering);
  const RecordedCalls calls = read_calls(*view_, s_.kept_from.load());
  const loop::Finding finding = loop::find_loop(calls.sequence);
  result.tid = calls.tid;
  result.calls = calls.sequence.calls.size();
  if (!finding.chosen) return result;
  result.rule.reset(rule_of(calls.sequence, finding));
  result.is_settled = result.rule != nullptr && is_settled(calls.sequence, finding, calls.elapsed_ns);
  return result;
}

void StepFinder::use(Result& result) {
  Search running = Search::kRunning;
  // A known range may have ended the search.
  if (!s_.search.compare_exchange_strong(running, Search::kFound)) return;
  s_.step_thread.store(result.tid);
  recorder::header().step_tid = result.tid;
  const StepRule* const rule = result.rule.release();
  recorder::header().step_source = recorder::intern(rule->text());
  recorder::header().step_confidence = recorder::intern(rule->confidence);
  set_rule(s_, rule);
  if (rule->source == StepSource::kCollective) recorder::set_mode(recorder::kHookSteps, 0);
  if (rule->of_operators) recorder::set_mode(recorder::kOperatorSteps, 0);
}

void StepFinder::pause() {
  Search running = Search::kRunning;
  if (!s_.search.compare_exchange_strong(running, Search::kPaused)) return;
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPause_ns, kLongestPause_ns);
  pause_ns_ = std::max(pause_ns_, 10 * (monotonic_ns() - began_ns_));
  resume_ns_ = monotonic_ns() + pause_ns_;
  recorder::set_mode(0, recorder::kArmed);
  disarm_others(s_, ticks(), false);
  save_without_steps();
  s_.kept_from.store(0);
}

void StepFinder::save_without_steps() {
  const Ticks from = s_.kept_from.load();
  if (from == 0 || s_.windows_opened.load() != 0 || s_.current.load() != nullptr) return;
  recorder::problem("steps",
                    "no loop was found: this trace has no steps; set steps.source (nvtx, torch, symbol, collective or "
                    "time) to choose them");
  open_window(s_, from, spool::kNoMark);
  close_by_schedule(s_, ticks(), 0);
}

void StepFinder::lose_events() {
  if (s_.search.load() != Search::kOver) s_.kept_from.store(ticks());
}

void StepFinder::finish() {
  try {
    const std::lock_guard lock(mutex_);
    if (s_.search.load() != Search::kRunning) return;
    Result result = look();
    if (result.rule != nullptr) return use(result);
    s_.search.store(Search::kOver);
    save_without_steps();
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace profshim::session
