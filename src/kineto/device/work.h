// Device activity of one window: gathers the events of the device lane.
//
// The window has the API calls that begin in it, and all device work of those calls, however late it ends. Device work
// without a call in the spool is an orphan: taken by its begin when it can have been launched in this window. What has
// an impossible time is left out, and counted by reason.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kineto/run_order.h"
#include "launch_index.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// The span of a window in ticks, and how far away a time can be.
struct WindowSpan {
  Ticks begin, end;        // end is ~0 while the window is open
  Ticks earliest, latest;  // of any event that belongs to it
};

struct DeviceCounts {
  std::uint64_t api_calls = 0, kernels = 0, copies = 0, memsets = 0, graphs = 0;
  std::uint64_t orphans = 0;      // device work whose call is not known
  std::uint64_t overlapping = 0;  // work that began before earlier work of its stream had ended
  std::uint64_t placeless = 0;    // synchronisations in contexts without any work in this window: of which device?
  std::uint64_t zero_time = 0, reversed_time = 0, outside_time = 0;
};

class DeviceWork {
 public:
  struct Stream {
    std::vector<const Event*> work;   // kernels, copies, memsets, graphs; by begin
    std::vector<const Event*> syncs;  // those that are shown; by begin
  };
  struct StreamKey {
    std::uint16_t device;
    std::int64_t stream;  // -1 = no single one
    /// 0, or the context where another one's work on the same stream number runs at the same time. CUPTI's numbers are
    /// unique within a context only (cuptiGetStreamIdEx in cupti_activity.h).
    std::uint32_t context = 0;
    auto operator<=>(const StreamKey&) const = default;
  };
  explicit DeviceWork(const spool::View& view) : launches_(view) {}
  /// A run of the device lane.
  void add_run(const spool::Run& run) { runs_.emplace_back(run.events, run.count); }
  bool empty() const { return runs_.empty(); }

  /// First: finds the calls. Then work.
  void gather_calls(const WindowSpan& span);
  void gather_work(const WindowSpan& span);

  /// The calls of the window, nearly in the order of their begin.
  template <class Function>
  void for_each_call(const Function& function) const {
    for (std::uint32_t i = 0; i < launches_.size(); ++i) {
      const Event& call = launches_.call(i);
      if (call.begin >= begin_ && call.begin < end_) function(call);
    }
  }
  const LaunchIndex& launches() const { return launches_; }
  /// The call that launched this work, null when it is not known.
  const Event* call_of(const Event& work, std::uint32_t& hint) const {
    const std::uint32_t at = launches_.find(work.gpu.correlation, hint);
    return at == LaunchIndex::kNotFound ? nullptr : &launches_.call(at);
  }

  const std::map<StreamKey, Stream>& streams() const { return streams_; }
  const std::vector<const Event*>& overheads() const { return overheads_; }
  const std::vector<const Event*>& memory() const { return memory_; }
  const DeviceCounts& counts() const { return counts_; }
  /// When the last of it ended; 0 without any.
  Ticks last_end() const { return last_end_; }

 private:
  bool possible(const Event& e, const WindowSpan& span);
  bool belongs(const Event& e, const WindowSpan& span, std::uint32_t& hint);
  void take(const Event& e, const WindowSpan& span, std::uint32_t& hint);
  void place_syncs();
  void part_contexts();
  void choose_syncs(Stream& stream);
  void order(std::vector<const Event*>& events);

  std::vector<std::span<const Event>> runs_;
  LaunchIndex launches_;
  Ticks begin_ = 0, end_ = 0;
  std::uint32_t first_correlation_ = 0;  // of the window's calls; 0 = it has none
  std::map<StreamKey, Stream> streams_;
  std::map<std::uint32_t, std::uint16_t> devices_of_contexts_;
  std::vector<const Event*> unplaced_syncs_;  // their context was not known yet when CUPTI told of them
  std::vector<const Event*> overheads_, memory_;
  DeviceCounts counts_;
  Ticks last_end_ = 0;
};

/// CUpti_ActivitySynchronizationType
enum : std::uint16_t { kEventSync = 1, kStreamWaitEvent = 2, kStreamSync = 3, kContextSync = 4 };
/// The stream of a synchronisation as the trace shows it: -1 = of no single stream.
constexpr std::int64_t sync_stream(const GpuArgs& gpu) {
  const bool of_all = gpu.kind == kEventSync || gpu.kind == kContextSync || gpu.stream == ~std::uint32_t{0};
  return of_all ? -1 : std::int64_t{gpu.stream};
}

/// Does an arrow lead from the call to its synchronisation?
constexpr bool has_arrow(const Event& sync) { return sync.gpu.kind != kEventSync; }

/// Kernels, copies, memsets and graphs: what occupies a stream.
constexpr bool is_stream_work(HookId hook) {
  return hook == HookId::kKernel || hook == HookId::kMemcpy || hook == HookId::kMemcpyPeer || hook == HookId::kMemset ||
         hook == HookId::kGraphRun;
}

}  // namespace profshim::kineto
