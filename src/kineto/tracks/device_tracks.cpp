#include "device_tracks.h"

#include <algorithm>
#include <set>

#include "kineto/track_names.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

std::string sync_track_name(std::int64_t stream) {
  return stream < 0 ? std::string(schema::track::kDeviceSync)
                    : schema::numbered(schema::track::kStreamStart, stream) += schema::track::kSyncEnd;
}

}  // namespace

void write_arrow_start(TraceWriter& out, const TraceEvent& call, std::uint32_t correlation) {
  TraceEvent flow;
  flow.phase = schema::phase::kFlowStart;
  flow.category = Category::kAc2g;
  flow.name = schema::category::kAc2g;
  flow.pid = call.pid;
  flow.tid = call.tid;
  flow.begin_ns = call.begin_ns;
  flow.id = correlation;
  out.write(flow);
}

void write_arrow_end(TraceWriter& out, TraceEvent activity, std::uint32_t correlation) {
  activity.phase = schema::phase::kFlowEnd;
  activity.category = Category::kAc2g;
  activity.name = schema::category::kAc2g;
  activity.id = correlation;
  activity.args = {};
  out.write(activity);
}

namespace {

// As in Kineto.
constexpr std::int64_t kGpuSortIndex = 5'000'000;
constexpr std::int64_t kSyncTid = 1'000'000;
// Overheads are drawn in the rank's process: Perfetto would draw Kineto's pid -1 into GPU 0.
constexpr std::int64_t kOverheadTid = 4'000'000'000;
constexpr std::int64_t kContextStep = 100'000'000;

// NCCL's kernel names contain "nccl", except oneRankReduce<...> (onerank.cu) of one-rank communicators.
bool is_nccl_kernel(HookId hook, std::string_view name) {
  return hook == HookId::kKernel &&
         (name.find("nccl") != std::string_view::npos || name.find("oneRankReduce") != std::string_view::npos);
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

DeviceTracks::DeviceTracks(const WindowEvents& window)
    : window_(window),
      names_(window.view),
      args_(window.view),
      nccl_args_(window.definitions, window.view.header().rank) {
  std::uint32_t hint = 0;
  for (const Event* const event : window.device.memory()) {
    const Event* const call = window.device.call_of(*event, hint);
    if (call != nullptr) memory_of_call_.emplace(call, memory_.size());
    memory_.push_back({event, call});
  }
}

void DeviceTracks::set_times(TraceEvent& slice, const Event& event) const {
  slice.begin_ns = window_.clock.unix_ns(event.begin);
  slice.duration_ns = std::max(slice.begin_ns, window_.clock.unix_ns(event.end)) - slice.begin_ns;
}

void DeviceTracks::describe_call(const Event& call, TraceEvent& slice) {
  slice.name = names_.name_of(call);
  slice.category = call.api.is_runtime != 0 ? Category::kCudaRuntime : Category::kCudaDriver;
  const auto together = window_.operations.calls_in(call.api.external);
  const std::uint64_t id = together.size() == 1
                               ? window_.operations.external_id(*together[0])
                               : window_.torch_links.external_id_of_call(position_of(call, call_hint_));
  slice.args = args_.of_call(call, id);
}

std::span<const Arg> DeviceTracks::phases_of(const Event& call) const {
  return window_.phases.args_at(thread_key(call.api), call.begin);
}

std::uint32_t DeviceTracks::position_of(const Event& call, std::uint32_t& hint) const {
  return window_.device.launches().find(call.api.correlation, hint);
}

void DeviceTracks::begin_arrow(TraceWriter& out, const Event& call, const TraceEvent& slice) {
  const LaunchIndex& launches = window_.device.launches();
  const std::uint32_t at = position_of(call, call_hint_);
  if (at == LaunchIndex::kNotFound || !(launches.has_activity(at) || launches.has_sync(at))) return;
  write_arrow_start(out, slice, call.api.correlation);
}

void DeviceTracks::name_device(TraceWriter& out, std::uint16_t device) {
  const TrackId process{device, 0};
  const std::int64_t at_ns = window_.clock.unix_ns(window_.begin);
  name_process(out, process, at_ns, window_.view.string(window_.view.header().program),
               schema::numbered(schema::track::kGpuStart, device), kGpuSortIndex + device);
}

void DeviceTracks::name_track(TraceWriter& out, const Track& track, int overflow) {
  const TrackId id{track.pid, track.tid + overflow * kOverflowTidStep};
  const std::int64_t at_ns = window_.clock.unix_ns(window_.begin);
  kineto::name_track(out, id, at_ns, track.name, overflow, track.sort_index + overflow);
}

void DeviceTracks::write(TraceWriter& out, const std::function<void()>& written) {
  written_ = written;
  std::set<std::uint16_t> devices;
  for (const auto& [key, stream] : window_.device.streams()) {
    if (devices.insert(key.device).second) name_device(out, key.device);
    write_stream(out, key, stream);
    write_syncs(out, key, stream);
  }
  write_overheads(out);
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i].is_written) continue;
    write_memory(out, i);
    written_();
  }
}

DeviceTracks::Track DeviceTracks::track_of(DeviceActivity::StreamKey key) {
  Track track{key.device, key.stream, schema::numbered(schema::track::kStreamStart, key.stream), key.stream};
  if (key.context != 0) {
    const auto number = static_cast<std::int64_t>(separate_contexts_.size()) + 1;
    track.tid += kContextStep * separate_contexts_.emplace(key.context, number).first->second;
    track.name += " of context " + std::to_string(key.context);
  }
  const std::string_view given = window_.definitions.stream_name(key.device, static_cast<std::uint32_t>(key.stream));
  if (!given.empty()) track.name += " (" + std::string(given) + ")";
  return track;
}

void DeviceTracks::write_stream(TraceWriter& out, DeviceActivity::StreamKey key, const DeviceActivity::Stream& stream) {
  if (stream.activity.empty()) return;
  Track track = track_of(key);
  track.overflow.name_up_to(0, [&](int overflow) { name_track(out, track, overflow); });
  const auto annotations = window_.annotations.spans_on(key);
  auto annotation = annotations.begin();
  std::uint32_t hint = 0;
  for (const Event* const activity : stream.activity) {
    for (; annotation != annotations.end() && annotation->begin <= activity->begin; ++annotation) {
      write_annotation(out, *annotation, track);
    }
    write_activity(out, *activity, track.tid, hint);
    written_();
  }
}

// Ranges of different threads may overlap on one stream: they need overflow tracks.
void DeviceTracks::write_annotation(TraceWriter& out, const DeviceAnnotations::Span& span, Track& track) {
  Event times = *span.range;
  times.begin = span.begin;
  times.end = span.end;
  const Arg id{schema::arg::kExternalId, window_.annotations.external_id(*span.range)};
  TraceEvent e;
  e.category = Category::kGpuUserAnnotation;
  if (is_nccl_operation(span.range->hook)) {
    e.name = nccl_args_.annotation_name(*span.range);
  } else {
    e.name = window_.view.string(span.range->name);
    if (e.name.empty()) e.name = "(name lost)";
  }
  e.args = {&id, 1};
  write_in_track(out, e, times, track);
}

const Event* DeviceTracks::join_operation(const Event& activity, const Event* call, std::string_view name) {
  const bool by_call = activity.gpu.external == 0 && call != nullptr;
  const std::uint32_t number = by_call ? call->api.external : activity.gpu.external;
  auto together = window_.operations.calls_in(number);
  if (number == 0 && is_nccl_kernel(activity.hook, name) && call != nullptr) {
    together = window_.operations.launching_at(call->begin, name, activity.gpu.device, nccl_args_);
  }
  if (together.empty()) return nullptr;
  return nccl_args_.operation_of_kernel(together, name, activity.gpu.device);
}

void DeviceTracks::write_activity(TraceWriter& out, const Event& activity, std::int64_t tid, std::uint32_t& hint) {
  const Event* const call = window_.device.call_of(activity, hint);
  TraceEvent e;
  e.category = category_of(activity.hook);
  e.name = names_.name_of(activity);
  e.pid = activity.gpu.device;
  e.tid = tid;
  set_times(e, activity);
  ActivityContext context;
  context.duration_ns = e.duration_ns;
  if (call != nullptr) {
    context.step = window_.steps.number_at(call->begin);
    e.more_args = phases_of(*call);
    context.external_id = window_.torch_links.external_id_of_call(position_of(*call, hint));
  }
  if (const Event* const operation = join_operation(activity, call, e.name)) {
    context.external_id = window_.operations.external_id(*operation);
    if (is_nccl_kernel(activity.hook, e.name)) context.operation = nccl_args_.of_kernel(*operation, e.duration_ns);
  }
  e.args = args_.of_activity(activity, window_.continuations.continuation_of(activity), context);
  out.write(e);
  if (call != nullptr) write_arrow_end(out, e, activity.gpu.correlation);
}

void DeviceTracks::write_in_track(TraceWriter& out, TraceEvent& e, const Event& event, Track& track) {
  set_times(e, event);
  const int overflow = track.overflow.place(e.begin_ns, e.begin_ns + e.duration_ns);
  track.overflow.name_up_to(overflow, [&](int number) { name_track(out, track, number); });
  e.pid = track.pid;
  e.tid = track.tid + overflow * kOverflowTidStep;
  out.write(e);
  written_();
}

void DeviceTracks::write_syncs(TraceWriter& out, DeviceActivity::StreamKey key, const DeviceActivity::Stream& stream) {
  Track track{key.device, kSyncTid + key.stream, sync_track_name(key.stream), key.stream};
  std::uint32_t hint = 0;
  for (const Event* const sync : stream.syncs) {
    TraceEvent e;
    e.category = Category::kCudaSync;
    e.name = names_.name_of(*sync);
    e.args = args_.of_sync(*sync, key.device);
    const Event* const call = window_.device.call_of(*sync, hint);
    if (call != nullptr) e.more_args = phases_of(*call);
    write_in_track(out, e, *sync, track);
    if (has_arrow(*sync) && call != nullptr) write_arrow_end(out, e, sync->sync.correlation);
  }
}

void DeviceTracks::write_overheads(TraceWriter& out) {
  Track track{window_.view.header().pid, kOverheadTid, "CUPTI overhead", kOverheadTid};
  for (const Event* const overhead : window_.device.overheads()) {
    TraceEvent e;
    e.category = Category::kOverhead;
    e.name = names_.name_of(*overhead);
    write_in_track(out, e, *overhead, track);
  }
}

void DeviceTracks::write_memory_of(TraceWriter& out, const Event& call) {
  if (memory_of_call_.empty()) return;
  const auto [first, last] = memory_of_call_.equal_range(&call);
  for (auto at = first; at != last; ++at) write_memory(out, at->second);
}

void DeviceTracks::write_memory(TraceWriter& out, std::size_t index) {
  auto& [memory, call, is_written] = memory_[index];
  TraceEvent e;
  e.phase = schema::phase::kInstant;
  e.category = Category::kCpuInstantEvent;
  e.name = names_.name_of(*memory);
  e.pid = window_.view.header().pid;
  e.tid = call != nullptr && call->api.tid > 0 ? std::int64_t{call->api.tid} : e.pid;
  e.begin_ns = window_.clock.unix_ns(memory->begin);
  e.args = args_.of_memory(*memory);
  if (call != nullptr) e.more_args = phases_of(*call);
  out.write(e);
  is_written = true;
}

}  // namespace profshim::kineto
