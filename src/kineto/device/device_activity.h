// Device activity of one window (kernels, copies, memsets, graphs) and the API calls that launched it, from the events
// that CUPTI reported.
//
// A window has the API calls that begin in it, and all device activity of those calls, however late it ends. Activity
// without a call in the spool is an orphan; it is taken if it begins in the window and can have been launched in it.
// Events with an impossible time are left out and counted by reason.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kineto/run_order.h"
#include "launch_index.h"
#include "profshim/device/activity_kinds.h"
#include "profshim/device/context_devices.h"
#include "profshim/device/possible_times.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// The span of a window in ticks, and the bounds of possible times.
struct WindowSpan {
  Ticks begin, end;        // end is ~0 while the window is open
  Ticks earliest, latest;  // bounds for the times of its events
};

struct DeviceCounts {
  std::uint64_t api_calls = 0, kernels = 0, copies = 0, memsets = 0, graphs = 0;
  std::uint64_t orphans = 0;      // device activity without a known call
  std::uint64_t overlapping = 0;  // activity that began before earlier activity of its stream had ended
  std::uint64_t placeless = 0;    // synchronizations of contexts whose device is unknown: no activity in this window
  ImpossibleTimes times;
};

class DeviceActivity {
 public:
  struct Stream {
    std::vector<const Event*> activity;  // kernels, copies, memsets, graphs; by begin
    std::vector<const Event*> syncs;     // the synchronizations that are shown; by begin
  };
  struct StreamKey {
    std::uint16_t device;
    std::int64_t stream;  // -1 = no single stream
    /// 0; or the context, if activity of two contexts runs at the same time on one stream number. CUPTI's stream
    /// numbers are unique within a context only (cuptiGetStreamIdEx in cupti_activity.h).
    std::uint32_t context = 0;
    auto operator<=>(const StreamKey&) const = default;
  };
  explicit DeviceActivity(const spool::View& view) : launches_(view) {}
  /// Takes a run with tid spool::kDeviceTid.
  void add_run(const spool::Run& run) { runs_.emplace_back(run.events, run.count); }
  bool empty() const { return runs_.empty(); }

  /// Call gather_calls() first, then gather_activity().
  void gather_calls(const WindowSpan& span);
  void gather_activity(const WindowSpan& span);

  /// Calls `function` for each API call of the window, nearly in the order of begin.
  template <class Function>
  void for_each_call(const Function& function) const {
    for (std::uint32_t i = 0; i < launches_.size(); ++i) {
      const Event& call = launches_.call(i);
      if (call.begin >= begin_ && call.begin < end_) function(call);
    }
  }
  const LaunchIndex& launches() const { return launches_; }
  /// Returns the call that launched this activity; null if unknown.
  const Event* call_of(const Event& activity, std::uint32_t& hint) const {
    const std::uint32_t at = launches_.find(activity.gpu.correlation, hint);
    return at == LaunchIndex::kNotFound ? nullptr : &launches_.call(at);
  }

  const std::map<StreamKey, Stream>& streams() const { return streams_; }
  const std::vector<const Event*>& overheads() const { return overheads_; }
  const std::vector<const Event*>& memory() const { return memory_; }
  const DeviceCounts& counts() const { return counts_; }
  /// Returns the end of the last call or activity; 0 if there is none.
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
  std::uint32_t first_correlation_ = 0;  // of the window's calls; 0 = no call
  std::map<StreamKey, Stream> streams_;
  ContextDevices context_devices_;
  std::vector<const Event*> unplaced_syncs_;  // the device of their context was unknown when they were read
  std::vector<const Event*> overheads_, memory_;
  DeviceCounts counts_;
  Ticks last_end_ = 0;
};

/// Returns the stream of a synchronization as the trace shows it; -1 = no single stream.
constexpr std::int64_t sync_stream(const GpuArgs& gpu) {
  const bool of_all = gpu.kind == kEventSync || gpu.kind == kContextSync || gpu.stream == ~std::uint32_t{0};
  return of_all ? -1 : std::int64_t{gpu.stream};
}

/// Returns true if an arrow leads from the call to its synchronization.
constexpr bool has_arrow(const Event& sync) { return sync.gpu.kind != kEventSync; }

}  // namespace profshim::kineto
