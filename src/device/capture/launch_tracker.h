// Which launches have not brought their device work yet: what a window waits for. Device thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device/cupti/api_names.h"
#include "profshim/base/clock.h"

namespace profshim::device {

class LaunchTracker {
 public:
  /// Tracks as many launches as fit into `bytes`. Launches beyond that are not waited for.
  explicit LaunchTracker(std::size_t bytes) : most_(std::min(bytes / kLaunchBytes, kMost)) {}

  /// A new round of records begins, `now_ns` by CLOCK_MONOTONIC: ages count from here.
  void begin_round(std::int64_t now_ns);

  /// CUPTI ties an id of ours to a call. Before the call and its work, where the order allows it.
  void on_external(std::uint32_t correlation, std::uint32_t external);
  /// The id tied to a call, or 0.
  std::uint32_t external_of(std::uint32_t correlation) const;

  /// A call of the API that is no launch: nothing to wait for.
  void on_call(std::uint32_t correlation);
  /// A launch that succeeded. False when this correlation has been launched already.
  bool on_launch(std::uint32_t correlation, Ticks begin, std::uint32_t thread, ApiRole role);
  /// Two correlations of one launch (the runtime's, and the driver's inside it): work of either will do.
  void tie(std::uint32_t one, std::uint32_t other);
  void on_begin_capture(std::uint32_t thread);
  void on_end_capture(std::uint32_t thread, Ticks begin);
  /// The job has waited for the whole device: what was launched before `begin` has ended. Its records may still be
  /// under way for a moment.
  void on_idle_device(Ticks begin) { idle_at_ = std::max(idle_at_, begin); }
  /// CUPTI tells of every stream, also of those that are older than the recording. Else nothing follows from the
  /// streams that have shown work: a launch may be on another one.
  void set_streams_are_dumped(bool told) {
    told_ = told;
    heard_ = false;
  }
  /// There is such a stream; its number is any that no other stream has.
  void on_stream(std::uint64_t stream);
  /// Likewise, from CUPTI's record of it.
  void on_stream_record(std::uint64_t stream) {
    heard_ = true;
    on_stream(stream);
  }
  /// Everything launched on this stream up to that correlation has ended: a stream runs in order.
  void on_finished(std::uint64_t stream, std::uint32_t correlation);

  /// A piece of device work. `graph`: 0, or the graph it is a node of.
  void on_work(std::uint32_t correlation, std::uint32_t graph);

  /// When the oldest launch began whose work is still to come; kNothing when there is none. Launches that may have no
  /// device work at all (inside a capture, a copy between host buffers) are waited for a moment only.
  static constexpr Ticks kNothing = ~Ticks{0};
  Ticks oldest_outstanding();
  /// Likewise of those that may still run; what has ended, as far as we know, comes with a forced flush or never.
  Ticks oldest_running() const;
  /// Gives up all that was launched before `end`.
  void give_up_before(Ticks end);
  /// How many have been given up since the last call. Those that may have no work are not counted.
  struct Lost {
    std::uint64_t launches = 0, graphs = 0;  // graphs: without a single node, counted in both
  };
  Lost take_lost();
  /// Something has arrived since the last call.
  bool take_progress();
  void clear();
  std::size_t size() const { return launches_.size(); }

 private:
  struct Launch {
    Ticks begin = 0;
    std::int64_t seen_ns = 0;   // of the last news
    std::int64_t ended_ns = 0;  // when we learnt that its work has ended; 0 = it may run
    std::uint32_t external = 0;
    std::uint32_t thread = 0;
    std::uint32_t tied = 0;
    std::uint32_t graph = 0;
    std::uint32_t nodes = 0;
    bool launched = false;
    bool worked = false;
    bool may_be_empty = false;
    bool of_graph = false;
  };
  struct Stream {
    std::uint32_t finished = 0;  // the newest correlation of its work that has ended
    bool any = false;            // has shown work
  };
  struct Graph {
    std::uint32_t nodes = 0;     // the most that one launch has shown
    std::uint32_t launches = 0;  // that have shown so many
  };
  bool outstanding(const Launch& launch) const;
  bool given_up(const Launch& launch);
  bool is_done(std::uint32_t correlation) const { return done_[correlation % kDone] == correlation; }
  bool whole_graph(const Launch& launch) const;
  bool finished_everywhere(std::uint32_t& correlation) const;
  bool has_ended(std::uint32_t correlation, const Launch& launch) const;
  void forget_if_done(std::uint32_t correlation);
  Launch* find(std::uint32_t correlation);

  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kLaunchBytes = sizeof(Launch) + 48;  // and its place in the table
  const std::size_t most_;
  /// Launches that have had their work are forgotten; by this table the runtime's record of one is recognised that
  /// comes after its work and the driver's record.
  static constexpr std::size_t kDone = 1 << 14;
  std::vector<std::uint32_t> done_ = std::vector<std::uint32_t>(kDone);
  std::unordered_map<std::uint32_t, Launch> launches_;
  std::unordered_map<std::uint32_t, Graph> graphs_;
  std::unordered_map<std::uint32_t, int> capturing_;  // by thread
  std::int64_t now_ns_ = 0, last_sweep_ns_ = 0;
  Ticks idle_at_ = 0;
  static constexpr std::size_t kMostStreams = 4096;
  std::unordered_map<std::uint64_t, Stream> streams_;
  bool told_ = false, heard_ = false, too_many_streams_ = false;
  std::uint64_t last_stream_ = 0;  // of many records one after the other
  Stream* last_ = nullptr;
  bool passed_any_ = false;  // what was launched before passed_ has ended, whichever stream it was on
  std::uint32_t passed_ = 0;
  Lost lost_;
  bool progress_ = false;
};

}  // namespace profshim::device
