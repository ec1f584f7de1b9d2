// A window has the activity of all API calls that begin in it. An orphan (activity whose call was not recorded) belongs
// to the window in which it begins, unless an earlier window launched it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kineto/continuations.h"
#include "launch_index.h"
#include "profshim/device/activity_kinds.h"
#include "profshim/device/context_devices.h"
#include "profshim/device/possible_times.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

struct WindowSpan {
  Ticks begin, end;        // end: ~0 while the window is open
  Ticks earliest, latest;  // other times are impossible (ImpossibleTimes)
};

struct DeviceCounts {
  std::uint64_t api_calls = 0, kernels = 0, copies = 0, memsets = 0, graphs = 0;
  std::uint64_t orphans = 0;
  std::uint64_t overlapping = 0;  // activity that overlaps earlier activity of its stream
  std::uint64_t placeless = 0;    // syncs whose context has no known device
  ImpossibleTimes times;
};

class DeviceActivity {
 public:
  struct Stream {
    std::vector<const Event*> activity;  // sorted by begin
    std::vector<const Event*> syncs;     // shown in the trace, sorted by begin
  };
  struct StreamKey {
    std::uint16_t device;
    std::int64_t stream;  // -1 = no single stream (sync)
    /// Context id; 0 for the lowest, and unless two contexts overlap on one stream number. Stream numbers are unique
    /// per context only (cuptiGetStreamIdEx, cupti_activity.h).
    std::uint32_t context = 0;
    auto operator<=>(const StreamKey&) const = default;
  };
  explicit DeviceActivity(const spool::View& view) : launches_(view) {}
  /// Requires a run with tid kDeviceTid.
  void add_run(const spool::Run& run) { runs_.emplace_back(run.events, run.count); }
  bool empty() const { return runs_.empty(); }

  /// Call after the last add_run(), before gather_activity().
  void gather_calls(const WindowSpan& span);
  void gather_activity(const WindowSpan& span);

  /// Visits the window's calls in order of correlation id.
  template <class Function>
  void for_each_call(const Function& function) const {
    for (std::uint32_t i = 0; i < launches_.size(); ++i) {
      const Event& call = launches_.call(i);
      if (call.begin >= begin_ && call.begin < end_) function(call);
    }
  }
  const LaunchIndex& launches() const { return launches_; }
  const Event* call_of(const Event& activity, std::uint32_t& hint) const {
    const std::uint32_t at = launches_.find(activity.gpu.correlation, hint);
    return at == LaunchIndex::kNotFound ? nullptr : &launches_.call(at);
  }

  const std::map<StreamKey, Stream>& streams() const { return streams_; }
  const std::vector<const Event*>& overheads() const { return overheads_; }
  const std::vector<const Event*>& memory() const { return memory_; }
  const DeviceCounts& counts() const { return counts_; }
  Ticks last_end() const { return last_end_; }

 private:
  bool is_possible(const Event& e, const WindowSpan& span);
  bool belongs(const Event& e, const WindowSpan& span, std::uint32_t& hint);
  void take(const Event& e, const WindowSpan& span, std::uint32_t& hint);
  void place_syncs();
  void separate_contexts();
  void choose_syncs(Stream& stream);
  void count_overlaps(const Stream& stream);

  std::vector<std::span<const Event>> runs_;
  LaunchIndex launches_;
  Ticks begin_ = 0, end_ = 0;
  std::uint32_t first_correlation_ = 0;
  std::map<StreamKey, Stream> streams_;
  ContextDevices context_devices_;
  std::vector<const Event*> unplaced_syncs_;
  std::vector<const Event*> overheads_, memory_;
  DeviceCounts counts_;
  Ticks last_end_ = 0;
};

constexpr std::int64_t sync_stream(const SyncArgs& sync) {
  const bool of_all = sync.kind == kEventSync || sync.kind == kContextSync || sync.stream == ~std::uint32_t{0};
  return of_all ? -1 : std::int64_t{sync.stream};
}

constexpr bool has_arrow(const Event& event) { return event.sync.kind != kEventSync; }

}  // namespace profshim::kineto
