#include "tracks.h"

#include <algorithm>
#include <set>

namespace profshim::kineto {
namespace {

// Kineto's places: GPUs below all CPU processes, the synchronisations of a stream on a line of their own.
constexpr std::int64_t kGpuSortIndex = 5'000'000;
constexpr std::int64_t kSyncTid = 1'000'000;
// Overhead is on pid -1 in Kineto, which Perfetto draws into GPU 0: it gets a line in the process instead.
constexpr std::int64_t kOverheadTid = 4'000'000'000;
constexpr std::int64_t kLaneStep = 10'000'000;
constexpr std::int64_t kContextStep = 100'000'000;

// A communicator of one rank reduces by a kernel without the prefix: oneRankReduce<...> of NCCL's onerank.cu.
bool is_kernel_of_nccl(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("oneRankReduce") != std::string_view::npos;
}

Category category_of(HookId hook) {
  switch (hook) {
    case HookId::kMemcpy:
    case HookId::kMemcpyPeer:
      return Category::kGpuMemcpy;
    case HookId::kMemset:
      return Category::kGpuMemset;
    default:
      return Category::kKernel;
  }
}

}  // namespace

DeviceTracks::DeviceTracks(Sources sources)
    : from_(std::move(sources)),
      names_(from_.view),
      args_(from_.view),
      nccl_args_(from_.definitions, from_.view.header().rank) {}

void DeviceTracks::set_times(TraceEvent& slice, const Event& event) const {
  slice.begin_ns = from_.clock.unix_ns(event.begin);
  slice.duration_ns = std::max(slice.begin_ns, from_.clock.unix_ns(event.end)) - slice.begin_ns;
}

void DeviceTracks::describe_call(const Event& call, TraceEvent& slice) {
  slice.name = names_.of(call);
  slice.category = call.api.is_runtime != 0 ? Category::kCudaRuntime : Category::kCudaDriver;
  const auto together = from_.operations.with(call.api.external);
  const std::uint64_t id = together.size() == 1 ? from_.operations.external_id(*together[0])
                                                : from_.torch_links.external_id_of_call(position_of(call, call_hint_));
  slice.args = args_.of_call(call, id);
}

std::uint32_t DeviceTracks::position_of(const Event& call, std::uint32_t& hint) const {
  return from_.work.launches().find(call.api.correlation, hint);
}

void DeviceTracks::write_flow_start(TraceWriter& out, const Event& call, const TraceEvent& slice) {
  const LaunchIndex& launches = from_.work.launches();
  const std::uint32_t at = position_of(call, call_hint_);
  if (at == LaunchIndex::kNotFound || !(launches.has_work(at) || launches.has_sync(at))) return;
  TraceEvent flow;
  flow.phase = 's';
  flow.category = Category::kAc2g;
  flow.name = "ac2g";
  flow.pid = slice.pid;
  flow.tid = slice.tid;
  flow.begin_ns = slice.begin_ns;
  flow.id = call.api.correlation;
  out.write(flow);
}

void DeviceTracks::meta(TraceWriter& out, std::string_view name, const Line& line, std::string_view key,
                        decltype(Arg::value) value) {
  const Arg arg{key, value};
  TraceEvent e;
  e.phase = 'M';
  e.name = name;
  e.pid = line.pid;
  e.tid = line.tid;
  e.begin_ns = names_ns_;
  e.args = {&arg, 1};
  out.write(e);
}

void DeviceTracks::name_device(TraceWriter& out, std::uint16_t device) {
  const Line process{.pid = device, .tid = 0};
  const std::string label = "GPU " + std::to_string(device);
  meta(out, "process_name", process, "name", from_.view.string(from_.view.header().program));
  meta(out, "process_labels", process, "labels", std::string_view{label});
  meta(out, "process_sort_index", process, "sort_index", kGpuSortIndex + device);
}

void DeviceTracks::name_line(TraceWriter& out, const Line& line, int lane) {
  Line shown = line;
  shown.tid += lane * kLaneStep;
  if (lane > 0) shown.name += " overlapping " + std::to_string(lane);
  meta(out, "thread_name", shown, "name", std::string_view{shown.name});
  meta(out, "thread_sort_index", shown, "sort_index", line.sort_index + lane);
}

void DeviceTracks::write(TraceWriter& out, std::int64_t names_ns, const std::function<void()>& written) {
  names_ns_ = names_ns;
  written_ = written;
  std::set<std::uint16_t> devices;
  for (const auto& [key, stream] : from_.work.streams()) {
    if (devices.insert(key.device).second) name_device(out, key.device);
    write_stream(out, key, stream);
    write_syncs(out, key, stream);
  }
  write_overheads(out);
  write_memory(out);
}

void DeviceTracks::write_stream(TraceWriter& out, DeviceWork::StreamKey key, const DeviceWork::Stream& stream) {
  if (stream.work.empty()) return;
  Line line{key.device, key.stream, "stream " + std::to_string(key.stream), key.stream};
  if (key.context != 0) {
    const auto number = static_cast<std::int64_t>(parted_contexts_.size()) + 1;
    line.tid += kContextStep * parted_contexts_.emplace(key.context, number).first->second;
    line.name += " of context " + std::to_string(key.context);
  }
  if (const std::string_view given = from_.definitions.stream_name(key.device, static_cast<std::uint32_t>(key.stream));
      !given.empty()) {
    line.name += " (" + std::string(given) + ")";
  }
  name_line(out, line, 0);
  const auto annotations = from_.annotations.on(key);
  auto annotation = annotations.begin();
  Lanes lanes;
  int lanes_used = 1;
  std::uint32_t hint = 0;
  for (const Event* const work : stream.work) {
    // Around its work, so before it in the file.
    for (; annotation != annotations.end() && annotation->begin <= work->begin; ++annotation) {
      write_annotation(out, *annotation, line, lanes, lanes_used);
    }
    write_work(out, *work, line.tid, hint);
    written_();
  }
}

// Ranges of several threads that launch on one stream need not nest there.
void DeviceTracks::write_annotation(TraceWriter& out, const DeviceAnnotations::Span& span, const Line& line,
                                    Lanes& lanes, int& lanes_used) {
  Event times = *span.range;
  times.begin = span.begin;
  times.end = span.end;
  const Arg id{"External id", from_.annotations.external_id(*span.range)};
  TraceEvent e;
  e.category = Category::kGpuUserAnnotation;
  if (is_nccl_operation(span.range->hook)) {
    e.name = nccl_args_.annotation_name(*span.range);
  } else {
    e.name = from_.view.string(span.range->name);
    if (e.name.empty()) e.name = "(name lost)";
  }
  e.args = {&id, 1};
  write_in_lanes(out, e, times, line, lanes, lanes_used);
}

void DeviceTracks::write_work(TraceWriter& out, const Event& work, std::int64_t tid, std::uint32_t& hint) {
  const Event* const call = from_.work.call_of(work, hint);
  TraceEvent e;
  e.category = category_of(work.hook);
  e.name = names_.of(work);
  e.pid = work.gpu.device;
  e.tid = tid;
  set_times(e, work);
  WorkContext context;
  context.duration_ns = e.duration_ns;
  if (call != nullptr) {
    context.step = from_.step_at(call->begin);
    context.external_id = from_.torch_links.external_id_of_call(position_of(*call, hint));
  }
  const std::uint32_t number = work.gpu.external != 0 || call == nullptr ? work.gpu.external : call->api.external;
  const bool is_kernel = work.hook == HookId::kKernel && is_kernel_of_nccl(e.name);
  auto together = from_.operations.with(number);
  if (number == 0 && is_kernel && call != nullptr) {
    together = from_.operations.launching_at(call->begin, e.name, work.gpu.device, nccl_args_);
  }
  if (!together.empty()) {
    if (const Event* const operation = nccl_args_.operation_of_kernel(together, e.name, work.gpu.device)) {
      context.external_id = from_.operations.external_id(*operation);
      if (is_kernel) context.operation = nccl_args_.of_kernel(*operation, e.duration_ns);
    }
  }
  e.args = args_.of_work(work, from_.order.continuation_of(work), context);
  out.write(e);
  if (call != nullptr) write_flow_end(out, e, work.gpu.correlation);  // no end without its start
}

void DeviceTracks::write_flow_end(TraceWriter& out, TraceEvent slice, std::uint32_t correlation) {
  slice.phase = 'f';
  slice.category = Category::kAc2g;
  slice.name = "ac2g";
  slice.id = correlation;
  slice.args = {};
  out.write(slice);
}

// Several threads may wait for one stream, or for the device, at a time.
void DeviceTracks::write_in_lanes(TraceWriter& out, TraceEvent& e, const Event& event, const Line& line, Lanes& lanes,
                                  int& lanes_used) {
  set_times(e, event);
  const int lane = lanes.place(e.begin_ns, e.begin_ns + e.duration_ns);
  for (; lanes_used <= lane; ++lanes_used) name_line(out, line, lanes_used);
  e.pid = line.pid;
  e.tid = line.tid + lane * kLaneStep;
  out.write(e);
  written_();
}

void DeviceTracks::write_syncs(TraceWriter& out, DeviceWork::StreamKey key, const DeviceWork::Stream& stream) {
  const Line line{key.device, kSyncTid + key.stream,
                  key.stream >= 0 ? "stream " + std::to_string(key.stream) + " (sync)" : "device (sync)", key.stream};
  Lanes lanes;
  int lanes_used = 0;
  std::uint32_t hint = 0;
  for (const Event* const sync : stream.syncs) {
    TraceEvent e;
    e.category = Category::kCudaSync;
    e.name = names_.of(*sync);
    e.args = args_.of_sync(*sync, key.device);
    write_in_lanes(out, e, *sync, line, lanes, lanes_used);
    if (has_arrow(*sync) && from_.work.call_of(*sync, hint) != nullptr) write_flow_end(out, e, sync->gpu.correlation);
  }
}

void DeviceTracks::write_overheads(TraceWriter& out) {
  const std::int64_t pid = from_.view.header().pid;
  const Line line{pid, kOverheadTid, "CUPTI overhead", kOverheadTid};
  Lanes lanes;
  int lanes_used = 0;
  for (const Event* const overhead : from_.work.overheads()) {
    TraceEvent e;
    e.category = Category::kOverhead;
    e.name = names_.of(*overhead);
    write_in_lanes(out, e, *overhead, line, lanes, lanes_used);
  }
}

void DeviceTracks::write_memory(TraceWriter& out) {
  std::uint32_t hint = 0;
  for (const Event* const memory : from_.work.memory()) {
    const Event* const call = from_.work.call_of(*memory, hint);
    TraceEvent e;
    e.phase = 'i';
    e.category = Category::kCpuInstantEvent;
    e.name = names_.of(*memory);
    e.pid = from_.view.header().pid;
    e.tid = call != nullptr && call->api.tid > 0 ? std::int64_t{call->api.tid} : e.pid;
    e.begin_ns = from_.clock.unix_ns(memory->begin);
    e.args = args_.of_memory(*memory);
    out.write(e);
    written_();
  }
}

}  // namespace profshim::kineto
