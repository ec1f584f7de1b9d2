// A launch is outstanding until CUPTI has delivered all of its device activity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device/cupti/api_names.h"
#include "launch_state.h"
#include "profshim/base/clock.h"
#include "stream_progress.h"

namespace profshim::device {

class LaunchTracker {
 public:
  /// `bytes` limits the tables. Launches that do not fit are not waited for.
  explicit LaunchTracker(std::size_t bytes)
      : most_(std::min(bytes / 16 * 15 / kLaunchBytes, kMost)),
        most_graphs_(std::min(bytes / 16 / kGraphBytes, kMost)) {}

  /// Forgets launches that are not outstanding, every 5 s. `now_ns`: CLOCK_MONOTONIC.
  void begin_round(std::int64_t now_ns);

  /// Call before the launch's other records are converted.
  void on_external(std::uint32_t correlation, std::uint32_t external);
  std::uint32_t external_of(std::uint32_t correlation) const;

  /// Called for CUDA calls that failed or launch nothing.
  void on_call(std::uint32_t correlation);
  /// Returns false if a call with this correlation id was seen before.
  bool on_launch(std::uint32_t correlation, Ticks begin, std::uint32_t thread, ApiRole role);
  /// Ties a runtime call to the driver call inside: activity of either completes both.
  void tie(std::uint32_t one, std::uint32_t other);
  void on_begin_capture(std::uint32_t thread, Ticks begin);
  void on_end_capture(std::uint32_t thread, Ticks end);
  /// A call waited for the device: launches before `begin` have ended.
  void on_idle_device(Ticks begin) { idle_at_ = std::max(idle_at_, begin); }

  /// `graph`: 0 = not a graph node.
  void on_activity(std::uint32_t correlation, std::uint32_t graph);
  StreamProgress& streams() { return streams_; }

  /// Returns the begin of the oldest outstanding launch, or kNothing. Launches that may have no activity (in a stream
  /// capture, copies between host buffers) are outstanding for 0.3 s only.
  static constexpr Ticks kNothing = ~Ticks{0};
  Ticks oldest_outstanding();
  /// Like oldest_outstanding(), but skips ended launches.
  Ticks oldest_running() const;
  /// Counts outstanding launches before `end` as lost.
  void give_up_before(Ticks end);
  struct Lost {
    std::uint64_t launches = 0;
    std::uint64_t graphs = 0;  // part of `launches`: graphs without any activity
    std::uint64_t copies = 0;  // not in `launches`: copies and memsets, which may have had no bytes
  };
  Lost take_lost();
  /// True once after new activity.
  bool take_progress();
  void clear();
  /// As clear(), but the streams stay known.
  void forget_launches();
  std::size_t outstanding_before(Ticks end) const;
  std::size_t size() const { return launches_.size(); }
  std::size_t graphs() const { return graphs_.size(); }

 private:
  struct Launch {
    Ticks begin = 0;            // valid once has_call(state)
    std::int64_t seen_ns = 0;   // time of the last record
    std::int64_t ended_ns = 0;  // when the end was noticed; 0 = may still run
    std::uint32_t external = 0;
    std::uint32_t thread = 0;
    std::uint32_t tied = 0;  // correlation id of the tied call, or 0
    std::uint32_t graph = 0;
    std::uint32_t nodes = 0;
    LaunchState state = LaunchState::kUnknown;
    bool may_be_empty = false;
    bool of_graph = false;
    bool is_copy = false;
  };
  struct Graph {
    std::uint32_t nodes = 0;     // most nodes of one launch
    std::uint32_t launches = 0;  // launches with that many nodes
  };
  struct Capture {
    Ticks begin = 0, end = 0;
  };
  bool is_outstanding(const Launch& launch) const;
  bool may_be_captured(const Launch& launch) const;
  void count_if_lost(const Launch& launch);
  bool was_completed(std::uint32_t correlation) const { return completed_[correlation % kCompleted] == correlation; }
  bool has_all_nodes(const Launch& launch) const;
  bool has_ended(std::uint32_t correlation, const Launch& launch) const;
  void forget_if_complete(std::uint32_t correlation);
  Launch* find(std::uint32_t correlation);
  void count_node(Launch& launch, std::uint32_t graph);

  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kLaunchBytes = sizeof(Launch) + 48;  // with hash table
  static constexpr std::size_t kGraphBytes = sizeof(Graph) + 48;
  const std::size_t most_, most_graphs_;
  /// Remembered complete launches: the runtime's record of a launch may follow the driver's.
  static constexpr std::size_t kCompleted = 1 << 14;
  std::vector<std::uint32_t> completed_ = std::vector<std::uint32_t>(kCompleted);
  std::unordered_map<std::uint32_t, Launch> launches_;
  std::unordered_map<std::uint32_t, Graph> graphs_;
  static constexpr std::size_t kMostCaptures = 256;
  std::unordered_map<std::uint32_t, std::vector<Ticks>> capturing_;  // thread -> begins of its nested captures
  std::vector<Capture> captures_;                                    // that have ended
  std::int64_t now_ns_ = 0, last_sweep_ns_ = 0;
  Ticks idle_at_ = 0;
  StreamProgress streams_;
  bool passed_any_ = false;  // if true, launches before correlation id passed_ have ended
  std::uint32_t passed_ = 0;
  Lost lost_;
  bool progress_ = false;
};

}  // namespace profshim::device
