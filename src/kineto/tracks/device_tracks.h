// The tracks of streams, and the arrows to them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "kineto/args/nccl_operation_args.h"
#include "kineto/device/device_args.h"
#include "kineto/device/device_names.h"
#include "kineto/overflow_tracks.h"
#include "kineto/window/window_events.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

// Arrows ("ac2g" flow events) from a CUDA call to the device activity that it launched.

/// Call directly after writing `call`.
void write_arrow_start(TraceWriter& out, const TraceEvent& call, std::uint32_t correlation);
/// Call directly after writing `activity`. Requires write_arrow_start() of the same `correlation`.
void write_arrow_end(TraceWriter& out, TraceEvent activity, std::uint32_t correlation);

/// Writes device activity: a process per device, a track per stream.
class DeviceTracks {
 public:
  explicit DeviceTracks(const WindowEvents& window);

  const std::vector<std::string>& device_properties() const { return args_.properties(); }
  /// Sets name, category and args of `slice`, valid until describe_call() or write() runs again.
  void describe_call(const Event& call, TraceEvent& slice);
  /// Does nothing if no activity or sync belongs to `call`. Call directly after writing the slice of `call`.
  void begin_arrow(TraceWriter& out, const Event& call, const TraceEvent& slice);
  /// Writes the memory events of `call`. Call after writing the slice of `call`: the events of a track stay in order.
  void write_memory_of(TraceWriter& out, const Event& call);
  void write(TraceWriter& out, const std::function<void()>& written);

 private:
  struct Track {
    std::int64_t pid = 0, tid = 0;
    std::string name;
    std::int64_t sort_index = 0;
    OverflowTracks overflow = {};
  };
  void name_device(TraceWriter& out, std::uint16_t device);
  void name_track(TraceWriter& out, const Track& track, int overflow);
  Track track_of(DeviceActivity::StreamKey key);
  void write_stream(TraceWriter& out, DeviceActivity::StreamKey key, const DeviceActivity::Stream& stream);
  void write_activity(TraceWriter& out, const Event& activity, std::int64_t tid, std::uint32_t& hint);
  const Event* join_operation(const Event& activity, const Event* call, std::string_view name);
  void write_annotation(TraceWriter& out, const DeviceAnnotations::Span& span, Track& track);
  void write_syncs(TraceWriter& out, DeviceActivity::StreamKey key, const DeviceActivity::Stream& stream);
  void write_overheads(TraceWriter& out);
  void write_memory(TraceWriter& out, std::size_t index);
  void write_in_track(TraceWriter& out, TraceEvent& slice, const Event& event, Track& track);
  std::span<const Arg> phases_of(const Event& call) const;
  std::uint32_t position_of(const Event& call, std::uint32_t& hint) const;
  void set_times(TraceEvent& slice, const Event& event) const;

  const WindowEvents& window_;
  DeviceNames names_;
  DeviceArgs args_;
  NcclOperationArgs nccl_args_;
  std::uint32_t call_hint_ = 0;
  std::map<std::uint32_t, std::int64_t> separate_contexts_;  // key: context; value: number from 1
  struct Memory {
    const Event* event;
    const Event* call;  // null = not known
    bool is_written = false;
  };
  std::vector<Memory> memory_;
  std::unordered_multimap<const Event*, std::size_t> memory_of_call_;  // indexes in memory_
  std::function<void()> written_;
};

}  // namespace profshim::kineto
