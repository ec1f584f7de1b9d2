// Writes what the GPU did: one process per device, one line per stream, flows from the launches.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "annotations.h"
#include "args.h"
#include "kineto/args/event_args.h"
#include "kineto/args/nccl_args.h"
#include "kineto/lanes.h"
#include "kineto/operations.h"
#include "kineto/run_order.h"
#include "kineto/torch_links.h"
#include "names.h"
#include "profshim/spool/view.h"
#include "work.h"

namespace profshim::kineto {

class DeviceTracks {
 public:
  struct Sources {
    const spool::View& view;
    const Definitions& definitions;
    const ClockMap& clock;
    const RunOrder& order;
    const DeviceWork& work;
    const Operations& operations;
    const DeviceAnnotations& annotations;
    const TorchLinks& torch_links;
    /// Number of the step in which something began; null = in none.
    std::function<const std::int64_t*(Ticks)> step_at;
  };
  explicit DeviceTracks(Sources sources);

  /// Elements of deviceProperties.
  const std::vector<std::string>& device_properties() const { return args_.properties(); }
  /// Name, category and args of an API call; they live until the next call of this object.
  void describe_call(const Event& call, TraceEvent& slice);
  /// Directly after the slice of the call: where the flows start to its device work, and to its synchronisation.
  /// Nothing when there is none.
  void write_flow_start(TraceWriter& out, const Event& call, const TraceEvent& slice);
  /// Everything that is on no thread of the job; `names_ns` is the time of the names. `written` is called for each
  /// event.
  void write(TraceWriter& out, std::int64_t names_ns, const std::function<void()>& written);

 private:
  /// A line of slices that may overlap, with what names it.
  struct Line {
    std::int64_t pid = 0, tid = 0;
    std::string name;
    std::int64_t sort_index = 0;
  };
  void meta(TraceWriter& out, std::string_view name, const Line& line, std::string_view key,
            decltype(Arg::value) value);
  void name_device(TraceWriter& out, std::uint16_t device);
  void name_line(TraceWriter& out, const Line& line, int lane);
  void write_stream(TraceWriter& out, DeviceWork::StreamKey key, const DeviceWork::Stream& stream);
  void write_work(TraceWriter& out, const Event& work, std::int64_t tid, std::uint32_t& hint);
  /// Directly after the slice to which the arrow leads.
  void write_flow_end(TraceWriter& out, TraceEvent slice, std::uint32_t correlation);
  void write_annotation(TraceWriter& out, const DeviceAnnotations::Span& span, const Line& line, Lanes& lanes,
                        int& lanes_used);
  void write_syncs(TraceWriter& out, DeviceWork::StreamKey key, const DeviceWork::Stream& stream);
  void write_overheads(TraceWriter& out);
  void write_memory(TraceWriter& out);
  void write_in_lanes(TraceWriter& out, TraceEvent& slice, const Event& event, const Line& line, Lanes& lanes,
                      int& lanes_used);
  std::uint32_t position_of(const Event& call, std::uint32_t& hint) const;
  void set_times(TraceEvent& slice, const Event& event) const;

  Sources from_;
  DeviceNames names_;
  DeviceArgs args_;
  NcclArgsText nccl_args_;
  std::uint32_t call_hint_ = 0;
  std::int64_t names_ns_ = 0;
  std::map<std::uint32_t, std::int64_t> parted_contexts_;  // with lines of their own -> number, from 1
  std::function<void()> written_;
};

}  // namespace profshim::kineto
