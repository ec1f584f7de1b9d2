// LaunchTracker: knows which launches have not shown their device activity yet. A window is settled only when none of
// its launches is outstanding. Device thread.
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
  /// A sixteenth of `bytes` is for the graphs, the rest for the launches. Launches beyond that are not waited for.
  explicit LaunchTracker(std::size_t bytes)
      : most_(std::min(bytes / 16 * 15 / kLaunchBytes, kMost)),
        most_graphs_(std::min(bytes / 16 / kGraphBytes, kMost)) {}

  /// Begins a round of records. Ages of launches are measured against `now_ns` (CLOCK_MONOTONIC).
  void begin_round(std::int64_t now_ns);

  /// CUPTI ties an external id of ours to a call. Report it before the call and its activity, where possible.
  void on_external(std::uint32_t correlation, std::uint32_t external);
  /// Returns the external id tied to a call, or 0.
  std::uint32_t external_of(std::uint32_t correlation) const;

  /// An API call that launches nothing, or failed.
  void on_call(std::uint32_t correlation);
  /// A launch that succeeded. Returns false if a launch with this correlation id is known already.
  bool on_launch(std::uint32_t correlation, Ticks begin, std::uint32_t thread, ApiRole role);
  /// Two correlation ids belong to one launch (the runtime's call, and the driver's call inside it): activity of either
  /// completes both.
  void tie(std::uint32_t one, std::uint32_t other);
  void on_begin_capture(std::uint32_t thread);
  void on_end_capture(std::uint32_t thread, Ticks begin);
  /// The job has waited for the whole device: all activity launched before `begin` has ended. Its records may still
  /// arrive for a moment.
  void on_idle_device(Ticks begin) { idle_at_ = std::max(idle_at_, begin); }

  /// A kernel, copy, memset or graph. `graph`: the id of the graph that it is a node of, or 0.
  void on_activity(std::uint32_t correlation, std::uint32_t graph);
  /// The streams, and how far each has come.
  StreamProgress& streams() { return streams_; }

  /// Returns when the oldest launch began whose activity is outstanding; kNothing if there is none. Launches that may
  /// have no device activity (inside a stream capture, a copy between host buffers) count for a moment only.
  static constexpr Ticks kNothing = ~Ticks{0};
  Ticks oldest_outstanding();
  /// The same for launches that may still run. The others have ended, as far as we know: their records come with a
  /// forced flush or never.
  Ticks oldest_running() const;
  /// Forgets the outstanding launches that began before `end`, and counts the lost ones.
  void give_up_before(Ticks end);
  /// Returns how many launches were lost since the last call. Launches that may have no activity are not counted.
  struct Lost {
    std::uint64_t launches = 0;
    std::uint64_t graphs = 0;  // of these: launches of graphs without a single node
  };
  Lost take_lost();
  /// Returns true if activity has arrived since the last call.
  bool take_progress();
  void clear();
  std::size_t size() const { return launches_.size(); }
  /// Returns the number of graphs whose nodes have been counted.
  std::size_t graphs() const { return graphs_.size(); }

 private:
  struct Launch {
    Ticks begin = 0;            // of the call; valid once has_call(state)
    std::int64_t seen_ns = 0;   // when the last record about it came
    std::int64_t ended_ns = 0;  // when we learned that its activity has ended; 0 = it may still run
    std::uint32_t external = 0;
    std::uint32_t thread = 0;
    std::uint32_t tied = 0;   // the other correlation id of this launch; 0 = none
    std::uint32_t graph = 0;  // 0 = its activity is no node of a graph
    std::uint32_t nodes = 0;  // that have arrived
    LaunchState state = LaunchState::kUnknown;
    bool may_be_empty = false;  // it may have no device activity
    bool of_graph = false;      // the call is a graph launch
  };
  struct Graph {
    std::uint32_t nodes = 0;     // the most nodes that one launch has shown
    std::uint32_t launches = 0;  // number of launches that have shown `nodes` nodes
  };
  bool is_outstanding(const Launch& launch) const;
  void count_if_lost(const Launch& launch);
  bool was_completed(std::uint32_t correlation) const { return completed_[correlation % kCompleted] == correlation; }
  bool has_all_nodes(const Launch& launch) const;
  bool has_ended(std::uint32_t correlation, const Launch& launch) const;
  void forget_if_complete(std::uint32_t correlation);
  Launch* find(std::uint32_t correlation);
  void count_node(Launch& launch, std::uint32_t graph);

  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kLaunchBytes = sizeof(Launch) + 48;  // with its share of the hash table
  static constexpr std::size_t kGraphBytes = sizeof(Graph) + 48;
  const std::size_t most_, most_graphs_;
  /// Complete launches are forgotten, and launches beyond `most_` are not tracked. This table of their newest
  /// correlation ids recognizes the runtime's record of a launch that comes after the driver's record.
  static constexpr std::size_t kCompleted = 1 << 14;
  std::vector<std::uint32_t> completed_ = std::vector<std::uint32_t>(kCompleted);
  std::unordered_map<std::uint32_t, Launch> launches_;
  std::unordered_map<std::uint32_t, Graph> graphs_;
  std::unordered_map<std::uint32_t, int> capturing_;  // thread -> nested stream captures
  std::int64_t now_ns_ = 0, last_sweep_ns_ = 0;
  Ticks idle_at_ = 0;
  StreamProgress streams_;
  bool passed_any_ = false;   // launches before passed_ have ended, whichever stream they were on
  std::uint32_t passed_ = 0;  // correlation id
  Lost lost_;
  bool progress_ = false;
};

}  // namespace profshim::device
