#include "launch_tracker.h"

#include <algorithm>
#include <utility>

#include "profshim/device/correlation.h"

namespace profshim::device {
namespace {
constexpr std::int64_t kGrace_ns = 300'000'000;  // for activity that may never come
constexpr std::int64_t kSweepEvery_ns = 5'000'000'000;
}  // namespace

void LaunchTracker::begin_round(std::int64_t now_ns) {
  now_ns_ = now_ns;
  if (now_ns - last_sweep_ns_ < kSweepEvery_ns) return;
  last_sweep_ns_ = now_ns;
  std::erase_if(launches_, [this](const auto& entry) {
    const Launch& launch = entry.second;
    if (is_outstanding(launch) || now_ns_ - launch.seen_ns <= kSweepEvery_ns) return false;
    count_if_lost(launch);
    return true;
  });
}

LaunchTracker::Launch* LaunchTracker::find(std::uint32_t correlation) {
  const auto found = launches_.find(correlation);
  return found == launches_.end() ? nullptr : &found->second;
}

void LaunchTracker::on_external(std::uint32_t correlation, std::uint32_t external) {
  if (correlation == 0 || launches_.size() >= most_) return;
  Launch& launch = launches_[correlation];
  launch.external = external;
  launch.seen_ns = now_ns_;
}

std::uint32_t LaunchTracker::external_of(std::uint32_t correlation) const {
  const auto found = launches_.find(correlation);
  return found == launches_.end() ? 0 : found->second.external;
}

void LaunchTracker::on_call(std::uint32_t correlation) {
  const auto found = launches_.find(correlation);
  if (found != launches_.end() && found->second.state == LaunchState::kUnknown) launches_.erase(found);
}

bool LaunchTracker::on_launch(std::uint32_t correlation, Ticks begin, std::uint32_t thread, ApiRole role) {
  if (correlation == 0) return true;
  if (was_completed(correlation)) return false;
  if (launches_.size() >= most_ && find(correlation) == nullptr) {
    completed_[correlation % kCompleted] = correlation;
    return true;
  }
  Launch& launch = launches_[correlation];
  if (has_call(launch.state)) return false;
  launch.state = after(launch.state, LaunchRecord::kCall);
  launch.begin = begin;
  launch.thread = thread;
  launch.seen_ns = now_ns_;
  launch.of_graph = role == ApiRole::kGraphLaunch;
  launch.is_copy = role == ApiRole::kCopy;
  launch.may_be_empty = role == ApiRole::kSyncCopy || capturing_.count(thread) != 0;
  forget_if_complete(correlation);
  return true;
}

void LaunchTracker::tie(std::uint32_t one, std::uint32_t other) {
  Launch* const a = find(one);
  Launch* const b = find(other);
  // Forgotten calls have had their activity.
  if (a == nullptr || b == nullptr) {
    if (a != nullptr) a->state = after(a->state, LaunchRecord::kActivity);
    if (b != nullptr) b->state = after(b->state, LaunchRecord::kActivity);
    forget_if_complete(a != nullptr ? one : other);
    return;
  }
  a->tied = other;
  b->tied = one;
}

void LaunchTracker::on_begin_capture(std::uint32_t thread, Ticks begin) { capturing_[thread].push_back(begin); }

void LaunchTracker::on_end_capture(std::uint32_t thread, Ticks end) {
  const auto open = capturing_.find(thread);
  if (captures_.size() == kMostCaptures) captures_.erase(captures_.begin());
  captures_.push_back({open != capturing_.end() ? open->second.back() : 0, end});
  if (open != capturing_.end()) {
    open->second.pop_back();
    if (open->second.empty()) capturing_.erase(open);
    return;
  }
  // The stream capture began before the recording: earlier launches of the thread may belong to it.
  for (auto& [correlation, launch] : launches_) {
    if (has_call(launch.state) && launch.thread == thread && launch.begin < end) launch.may_be_empty = true;
  }
}

void LaunchTracker::on_activity(std::uint32_t correlation, std::uint32_t graph) {
  progress_ = true;
  if (correlation == 0 || was_completed(correlation)) return;
  if (launches_.size() >= most_ && find(correlation) == nullptr) return;
  Launch& launch = launches_[correlation];
  launch.state = after(launch.state, LaunchRecord::kActivity);
  launch.seen_ns = now_ns_;
  if (graph != 0) count_node(launch, graph);
  if (launch.tied != 0) {
    const std::uint32_t other = launch.tied;
    launch.tied = 0;
    if (Launch* const twin = find(other); twin != nullptr && !has_activity(twin->state)) {
      twin->state = after(twin->state, LaunchRecord::kActivity);
      twin->tied = 0;
      forget_if_complete(other);
    }
  }
  forget_if_complete(correlation);
}

// Clears a full graphs_, since a job may make a graph in every step.
void LaunchTracker::count_node(Launch& launch, std::uint32_t graph) {
  launch.graph = graph;
  ++launch.nodes;
  if (graphs_.size() >= most_graphs_ && !graphs_.contains(graph)) graphs_.clear();
  Graph& known = graphs_[graph];
  if (launch.nodes == known.nodes) ++known.launches;
  if (launch.nodes > known.nodes) known = {launch.nodes, 1};
}

bool LaunchTracker::has_all_nodes(const Launch& launch) const {
  const bool waited = now_ns_ - launch.seen_ns > kGrace_ns;
  const auto known = graphs_.find(launch.graph);
  if (known == graphs_.end()) return waited;
  return launch.nodes >= known->second.nodes && (known->second.launches > 1 || waited);
}

bool LaunchTracker::is_outstanding(const Launch& launch) const {
  if (!has_call(launch.state)) return false;
  const bool delivered = launch.state == LaunchState::kDelivered;
  if (delivered && (launch.graph == 0 || has_all_nodes(launch))) return false;
  if (launch.ended_ns != 0 && now_ns_ - launch.ended_ns > kGrace_ns) return false;
  return delivered || !launch.may_be_empty || now_ns_ - launch.seen_ns <= kGrace_ns;
}

// Keeps launches with an external id or graph nodes, since more of their activity may come.
void LaunchTracker::forget_if_complete(std::uint32_t correlation) {
  const auto found = launches_.find(correlation);
  if (found == launches_.end()) return;
  const Launch& launch = found->second;
  if (launch.state != LaunchState::kDelivered || launch.external != 0 || launch.graph != 0) return;
  completed_[correlation % kCompleted] = correlation;
  launches_.erase(found);
}

bool LaunchTracker::has_ended(std::uint32_t correlation, const Launch& launch) const {
  return launch.begin < idle_at_ || (passed_any_ && correlation_is_before(correlation, passed_));
}

Ticks LaunchTracker::oldest_outstanding() {
  Ticks oldest = kNothing;
  passed_any_ = streams_.passed_by_all(passed_);
  for (auto& [correlation, launch] : launches_) {
    if (launch.ended_ns == 0 && has_call(launch.state) && has_ended(correlation, launch)) launch.ended_ns = now_ns_;
    if (is_outstanding(launch)) oldest = std::min(oldest, launch.begin);
  }
  return oldest;
}

Ticks LaunchTracker::oldest_running() const {
  Ticks oldest = kNothing;
  for (const auto& [correlation, launch] : launches_) {
    if (!has_ended(correlation, launch) && is_outstanding(launch)) oldest = std::min(oldest, launch.begin);
  }
  return oldest;
}

// Other threads take part in a stream capture: PyTorch's backward pass.
bool LaunchTracker::may_be_captured(const Launch& launch) const {
  const auto contains = [&launch](const Capture& capture) {
    return launch.begin >= capture.begin && launch.begin <= capture.end;
  };
  return std::any_of(captures_.begin(), captures_.end(), contains) ||
         std::any_of(capturing_.begin(), capturing_.end(),
                     [&launch](const auto& open) { return launch.begin >= open.second.front(); });
}

void LaunchTracker::count_if_lost(const Launch& launch) {
  const bool without_activity = launch.state == LaunchState::kAwaited;
  if (launch.may_be_empty || !(without_activity || is_outstanding(launch))) return;
  if (without_activity && may_be_captured(launch)) return;
  if (without_activity && launch.is_copy) {
    ++lost_.copies;
    return;
  }
  ++lost_.launches;
  if (launch.of_graph && without_activity) ++lost_.graphs;
}

void LaunchTracker::give_up_before(Ticks end) {
  std::erase_if(launches_, [&](const auto& entry) {
    const Launch& launch = entry.second;
    // Launches that ended long ago are not outstanding, but miss their activity.
    const bool missing = is_outstanding(launch) || (launch.state == LaunchState::kAwaited && launch.ended_ns != 0);
    if (!missing || launch.begin >= end) return false;
    count_if_lost(launch);
    return true;
  });
}

LaunchTracker::Lost LaunchTracker::take_lost() { return std::exchange(lost_, {}); }

bool LaunchTracker::take_progress() { return std::exchange(progress_, false); }

std::size_t LaunchTracker::outstanding_before(Ticks end) const {
  return static_cast<std::size_t>(std::count_if(launches_.begin(), launches_.end(), [&](const auto& entry) {
    return entry.second.begin < end && is_outstanding(entry.second);
  }));
}

void LaunchTracker::forget_launches() {
  launches_.clear();
  capturing_.clear();
  captures_.clear();
}

void LaunchTracker::clear() {
  forget_launches();
  streams_.clear();
  passed_any_ = false;
}

}  // namespace profshim::device
