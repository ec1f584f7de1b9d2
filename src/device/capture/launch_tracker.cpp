#include "launch_tracker.h"

#include <algorithm>
#include <utility>

namespace profshim::device {
namespace {
constexpr std::int64_t kGrace_ns = 300'000'000;         // for what may have no work, or more nodes
constexpr std::int64_t kSweepEvery_ns = 5'000'000'000;  // what is half known and stays so is forgotten

/// Correlations count up, and begin anew after 2^32 calls.
bool is_before(std::uint32_t one, std::uint32_t other) { return static_cast<std::int32_t>(one - other) < 0; }
}  // namespace

void LaunchTracker::begin_round(std::int64_t now_ns) {
  now_ns_ = now_ns;
  if (now_ns - last_sweep_ns_ < kSweepEvery_ns) return;
  last_sweep_ns_ = now_ns;
  std::erase_if(launches_, [this](const auto& entry) {
    return !outstanding(entry.second) && now_ns_ - entry.second.seen_ns > kSweepEvery_ns && given_up(entry.second);
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
  if (found != launches_.end() && !found->second.worked && !found->second.launched) launches_.erase(found);
}

bool LaunchTracker::on_launch(std::uint32_t correlation, Ticks begin, std::uint32_t thread, ApiRole role) {
  if (correlation == 0 || launches_.size() >= most_) return true;
  if (is_done(correlation)) return false;
  Launch& launch = launches_[correlation];
  if (launch.launched) return false;
  launch.launched = true;
  launch.begin = begin;
  launch.thread = thread;
  launch.seen_ns = now_ns_;
  launch.of_graph = role == ApiRole::kGraphLaunch;
  const auto capture = capturing_.find(thread);
  launch.may_be_empty = role == ApiRole::kSyncLaunch || (capture != capturing_.end() && capture->second > 0);
  forget_if_done(correlation);
  return true;
}

void LaunchTracker::tie(std::uint32_t one, std::uint32_t other) {
  Launch* const a = find(one);
  Launch* const b = find(other);
  // One that is gone already has had its work.
  if (a == nullptr || b == nullptr) {
    if (a != nullptr) a->worked = true;
    if (b != nullptr) b->worked = true;
    forget_if_done(a != nullptr ? one : other);
    return;
  }
  a->tied = other;
  b->tied = one;
}

void LaunchTracker::on_begin_capture(std::uint32_t thread) { ++capturing_[thread]; }

void LaunchTracker::on_end_capture(std::uint32_t thread, Ticks begin) {
  int& depth = capturing_[thread];
  if (depth > 0) {
    --depth;
    return;
  }
  // It began before anybody watched.
  for (auto& [correlation, launch] : launches_) {
    if (launch.launched && launch.thread == thread && launch.begin < begin) launch.may_be_empty = true;
  }
}

void LaunchTracker::on_work(std::uint32_t correlation, std::uint32_t graph) {
  progress_ = true;
  if (correlation == 0 || is_done(correlation)) return;
  if (launches_.size() >= most_ && find(correlation) == nullptr) return;
  Launch& launch = launches_[correlation];
  launch.worked = true;
  launch.seen_ns = now_ns_;
  if (graph != 0) {
    launch.graph = graph;
    ++launch.nodes;
    Graph& known = graphs_[graph];
    if (launch.nodes == known.nodes) ++known.launches;
    if (launch.nodes > known.nodes) known = {launch.nodes, 1};
  }
  if (launch.tied != 0) {
    const std::uint32_t other = launch.tied;
    launch.tied = 0;
    if (Launch* const twin = find(other); twin != nullptr && !twin->worked) {
      twin->worked = true;
      twin->tied = 0;
      forget_if_done(other);
    }
  }
  forget_if_done(correlation);
}

// A graph launch is whole when it has the nodes of another launch of the same graph, or none came for a moment.
bool LaunchTracker::whole_graph(const Launch& launch) const {
  const auto known = graphs_.find(launch.graph);
  if (known == graphs_.end() || launch.nodes < known->second.nodes) return false;
  return known->second.launches > 1 || now_ns_ - launch.seen_ns > kGrace_ns;
}

bool LaunchTracker::outstanding(const Launch& launch) const {
  if (!launch.launched) return false;
  if (launch.worked && (launch.graph == 0 || whole_graph(launch))) return false;
  if (launch.ended_ns != 0 && now_ns_ - launch.ended_ns > kGrace_ns) return false;
  return launch.worked || !launch.may_be_empty || now_ns_ - launch.seen_ns <= kGrace_ns;
}

// Launches with an id of ours, and nodes of a graph, may have more work to come: they are swept later.
void LaunchTracker::forget_if_done(std::uint32_t correlation) {
  const auto found = launches_.find(correlation);
  if (found == launches_.end()) return;
  const Launch& launch = found->second;
  if (!launch.launched || !launch.worked || launch.external != 0 || launch.graph != 0) return;
  done_[correlation % kDone] = correlation;
  launches_.erase(found);
}

void LaunchTracker::on_stream(std::uint64_t stream) {
  if (streams_.size() < kMostStreams) {
    streams_.try_emplace(stream);
  } else if (streams_.count(stream) == 0) {
    too_many_streams_ = true;
  }
}

void LaunchTracker::on_finished(std::uint64_t stream, std::uint32_t correlation) {
  if (correlation == 0) return;
  if (last_ == nullptr || stream != last_stream_) {
    on_stream(stream);
    const auto known = streams_.find(stream);
    if (known == streams_.end()) return;
    last_stream_ = stream;
    last_ = &known->second;
  }
  if (!last_->any || is_before(last_->finished, correlation)) last_->finished = correlation;
  last_->any = true;
}

// Nobody tells on which stream a launch was whose work is missing. Once every stream there is has shown the end of
// something that was launched after it, it was on one of them and has ended as well.
bool LaunchTracker::finished_everywhere(std::uint32_t& correlation) const {
  if (!told_ || !heard_ || too_many_streams_) return false;
  bool first = true;
  for (const auto& [number, stream] : streams_) {
    if (!stream.any) return false;
    if (first || is_before(stream.finished, correlation)) correlation = stream.finished;
    first = false;
  }
  return true;
}

bool LaunchTracker::has_ended(std::uint32_t correlation, const Launch& launch) const {
  return launch.begin < idle_at_ || (passed_any_ && is_before(correlation, passed_));
}

Ticks LaunchTracker::oldest_outstanding() {
  Ticks oldest = kNothing;
  passed_any_ = finished_everywhere(passed_);
  for (auto& [correlation, launch] : launches_) {
    if (launch.ended_ns == 0 && launch.launched && has_ended(correlation, launch)) launch.ended_ns = now_ns_;
    if (outstanding(launch)) oldest = std::min(oldest, launch.begin);
  }
  return oldest;
}

Ticks LaunchTracker::oldest_running() const {
  Ticks oldest = kNothing;
  for (const auto& [correlation, launch] : launches_) {
    if (!has_ended(correlation, launch) && outstanding(launch)) oldest = std::min(oldest, launch.begin);
  }
  return oldest;
}

/// True, and counts it where work is missing that must have been.
bool LaunchTracker::given_up(const Launch& launch) {
  const bool missing = launch.launched && !launch.may_be_empty && (!launch.worked || outstanding(launch));
  if (missing) ++lost_.launches;
  if (missing && launch.of_graph && !launch.worked) ++lost_.graphs;
  return true;
}

void LaunchTracker::give_up_before(Ticks end) {
  std::erase_if(launches_, [&](const auto& entry) {
    const Launch& launch = entry.second;
    const bool waited_for = outstanding(launch) || (launch.launched && !launch.worked && launch.ended_ns != 0);
    return waited_for && launch.begin < end && given_up(launch);
  });
}

LaunchTracker::Lost LaunchTracker::take_lost() { return std::exchange(lost_, {}); }

bool LaunchTracker::take_progress() {
  const bool any = progress_;
  progress_ = false;
  return any;
}

void LaunchTracker::clear() {
  launches_.clear();
  capturing_.clear();
  streams_.clear();
  told_ = heard_ = too_many_streams_ = false;
  last_ = nullptr;
  passed_any_ = false;
}

}  // namespace profshim::device
