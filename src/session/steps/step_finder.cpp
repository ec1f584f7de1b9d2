#include "step_finder.h"

#include <time.h>

#include <algorithm>
#include <exception>

#include "profshim/base/threads/cpu_wait.h"
#include "shared_steps.h"

namespace profshim::session {
namespace {

constexpr std::uint64_t kMostEvents = 1u << 18;  // 16 MiB
constexpr std::size_t kMostCalls = 1u << 16;
constexpr std::int64_t kFirstPause_ns = 1'000'000'000, kLongestPause_ns = 600'000'000'000;
/// Looks may take a hundredth of a CPU. The writer's wall time would say more where other processes wait for CPUs.
constexpr std::int64_t kPartOfTime = 100;
/// A found loop has ended if it makes no step for this many mean steps, and this long.
constexpr std::int64_t kManySteps = 20, kLongWait_ns = 10'000'000'000;

std::int64_t own_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Waits for other ranks, relative to the time that this rank needed.
constexpr std::int64_t kWaitForDecision = 2, kWaitForWord = 10;

}  // namespace

StepFinder::StepFinder(const Plan& plan, WindowQueue& queue, RecordingSwitch& recording, Steps& steps)
    : plan_(plan),
      queue_(queue),
      recording_(recording),
      steps_(steps),
      search_(steps.search()),
      ranks_(plan, recorder::header().base_time_ns) {
  std::string why_not;
  view_ = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
}

void StepFinder::begin() {
  if (began_ns_ != 0) search_.keeps_all.store(false);
  began_ns_ = monotonic_ns();
  const std::uint64_t events = recorder::events_committed();
  events_before_ = events;
  events_looked_at_ = events;
  next_look_ns_ = 0;
  found_after_ns_ = 0;
  search_.keep_from(plan_, ticks());
  search_.state.store(Search::kRunning);
  recording_.want_for_steps(true);
  recorder::set_mode(only_searched(plan_.spec), 0);
  recording_.arm(0);
}

void StepFinder::tick() {
  const std::int64_t now = monotonic_ns();
  switch (search_.state.load()) {
    case Search::kPaused:
      return now >= resume_ns_ ? begin() : void();
    case Search::kRunning:
      return wants_look() ? queue_.wake.notify_all() : void();
    case Search::kFound:  // no marker has come since: the loop has ended
      return recorder::events_committed() - events_before_ > 2 * kMostEvents ? pause() : void();
    case Search::kChanging:
      return;
    case Search::kOver:
      return has_loop_ended(now) ? begin() : void();
  }
}

bool StepFinder::has_loop_ended(std::int64_t now) {
  const std::uint64_t seen = recorder::header().steps_seen.load(std::memory_order_relaxed);
  if (seen < steps_seen_) steps_seen_ = 0;  // counted anew
  if (steps_seen_ == 0) first_step_ns_ = now;
  if (seen != steps_seen_) last_step_ns_ = now;
  steps_seen_ = seen;
  const bool may_record =
      steps_.windows().current() == nullptr && !queue_.steps_over.load() && !queue_.all_opened.load();
  if (seen < 2 || !may_record || !steps_.rule().is_found()) return false;
  const std::int64_t mean_ns = (last_step_ns_ - first_step_ns_) / static_cast<std::int64_t>(seen - 1);
  return now - last_step_ns_ > std::max(kManySteps * mean_ns, kLongWait_ns);
}

bool StepFinder::is_full() const { return recorder::events_committed() - events_before_ > kMostEvents; }

bool StepFinder::wants_look() const {
  if (search_.state.load() != Search::kRunning) return false;
  if (is_full()) return true;
  const std::uint64_t looked_at = events_looked_at_, seen = looked_at - events_before_;
  // New evidence: a quarter more events.
  return monotonic_ns() >= next_look_ns_ && recorder::events_committed() - looked_at > seen / 4;
}

void StepFinder::look_if_wanted() {
  if (!wants_look()) return;
  try {
    const std::lock_guard lock(mutex_);
    const std::int64_t began_cpu_ns = own_cpu_ns();
    const bool was_full = is_full();
    events_looked_at_ = recorder::events_committed();
    Result result = look(was_full);
    next_look_ns_ = monotonic_ns() + kPartOfTime * (own_cpu_ns() - began_cpu_ns);
    const bool is_over = was_full || result.calls > kMostCalls;
    if (result.is_settled || (is_over && result.rule != nullptr)) return use(result);
    if (is_over) pause();
  } catch (const std::exception&) {  // no memory
    pause();
  }
}

StepFinder::Result StepFinder::look(bool is_last) {
  Result result;
  if (view_ == nullptr) return result;
  loop::RecordedCalls calls;
  {
    const std::lock_guard no_chunk_changes_hands(queue_.gathering);
    calls = loop::read_calls(*view_, search_.kept_from.load(), plan_.spec.steps.source == StepSource::kTorch);
  }
  const std::int64_t waited = waited_ns(calls.tid);
  const loop::Finding finding = loop::find_loop(calls.sequence);
  result.tid = calls.tid;
  result.calls = calls.sequence.calls.size();
  if (!finding.chosen) {
    if (plan_.rank.world_size != 1) ranks_.say(nullptr);
    return result;
  }
  result.rule.reset(rule_of(calls.sequence, finding));
  result.is_settled = result.rule != nullptr && is_settled(calls.sequence, finding, calls.elapsed_ns, waited);
  if (plan_.rank.world_size != 1) agree(result, calls, is_last || result.calls > kMostCalls);
  return result;
}

std::int64_t StepFinder::waited_ns(std::int32_t tid) {
  if (asked_since_ns_ != began_ns_) waited_before_ns_.clear();
  asked_since_ns_ = began_ns_;
  const std::optional<std::int64_t> waited_ns = waited_for_cpu_ns(tid);
  if (!waited_ns) return 0;
  // The thread id may have been reused.
  return std::max<std::int64_t>(*waited_ns - waited_before_ns_.try_emplace(tid, *waited_ns).first->second, 0);
}

void StepFinder::agree(Result& result, const loop::RecordedCalls& calls, bool must_decide) {
  const bool decides = result.rule != nullptr && (result.is_settled || must_decide);
  const bool is_for_all = result.rule != nullptr && result.rule->is_made_by_all;
  if (!decides || !is_for_all) ranks_.say(result.rule.get());
  // Another rank cannot take steps from messages. So a rank that found such steps and also makes calls of all ranks
  // waits, for as long again as it took to find them, until another rank has found steps that all make; longer while
  // no other rank has said anything. Then it takes those that another rank sees so far.
  if (decides && !is_for_all && recurs_on_all_ranks(calls.sequence)) {
    if (found_after_ns_ == 0) found_after_ns_ = calls.elapsed_ns;
    if (ends_) ranks_.await_word();
    const std::int64_t times = ranks_.has_heard_of_others() ? kWaitForDecision : kWaitForWord;
    const bool waits = calls.elapsed_ns < times * found_after_ns_;
    if (waits) result.is_settled = false;
    if (must_decide || !waits) {
      auto shared = shared_rule(ranks_.seen_so_far(), calls.sequence);
      if (shared != nullptr) result.rule = std::move(shared);
    }
  }
  const std::string own = decides && result.rule->is_made_by_all ? shared_text(*result.rule) : "";
  const std::string decided = ranks_.decided(own);
  if (decided == own) return;
  std::unique_ptr<const StepRule> shared = shared_rule(decided, calls.sequence);
  if (shared == nullptr) return;
  result.rule = std::move(shared);
  result.is_settled = true;
}

void StepFinder::use(Result& result) {
  Search running = Search::kRunning;
  ranks_.begin(++decisions_);
  found_after_ns_ = 0;
  // A known range may have ended the search.
  if (!search_.state.compare_exchange_strong(running, Search::kChanging)) return;
  steps_.use_found(result.rule.release(), result.tid);
  search_.state.store(Search::kFound);
}

void StepFinder::pause() {
  Search search = search_.state.load();
  if (search == Search::kOver || !search_.state.compare_exchange_strong(search, Search::kPaused)) return;
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPause_ns, kLongestPause_ns);
  pause_ns_ = std::max(pause_ns_, 10 * (monotonic_ns() - began_ns_));
  resume_ns_ = monotonic_ns() + pause_ns_;
  recording_.want_for_steps(false);
  recording_.disarm(ticks(), false);
  steps_.save_without_steps();
  search_.stop_keeping(plan_);
}

void StepFinder::lose_events() {
  if (search_.state.load() == Search::kOver) return;
  search_.keeps_all.store(false);
  search_.keep_from(plan_, ticks());
}

void StepFinder::finish() {
  try {
    const std::lock_guard lock(mutex_);
    if (search_.state.load() != Search::kRunning) return;
    ends_ = true;
    Result result = look(true);
    if (result.rule != nullptr) return use(result);
    search_.state.store(Search::kOver);
    steps_.save_without_steps();
    search_.stop_keeping(plan_);
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace profshim::session
