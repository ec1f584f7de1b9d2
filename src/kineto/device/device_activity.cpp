#include "device_activity.h"

#include <algorithm>

#include "kineto/slice_order.h"
#include "profshim/device/correlation.h"

namespace profshim::kineto {
namespace {}  // namespace

void DeviceActivity::gather_calls(const WindowSpan& span) {
  begin_ = span.begin;
  end_ = span.end;
  const auto for_each_api = [this](const auto& function) {
    for (const std::span<const Event> run : runs_) {
      for (const Event& e : run) {
        if (e.hook == HookId::kCudaApi && e.api.correlation != 0) function(e);
      }
    }
  };
  std::size_t calls = 0;
  for_each_api([&](const Event&) { ++calls; });
  launches_.reserve(calls);
  for_each_api([&](const Event& e) {
    const bool inside = e.begin >= span.begin && e.begin < span.end;
    if (inside && !is_unfinished(e) && !is_possible(e, span)) return;
    launches_.add(e);
  });
  launches_.finish(span.begin, span.end);
  for_each_call([this](const Event& call) {
    ++counts_.api_calls;
    if (!is_unfinished(call)) last_end_ = std::max(last_end_, call.end);
    const std::uint32_t correlation = call.api.correlation;
    if (first_correlation_ == 0 || correlation_is_before(correlation, first_correlation_))
      first_correlation_ = correlation;
  });
}

bool DeviceActivity::is_possible(const Event& e, const WindowSpan& span) {
  return counts_.times.admit(e.begin, e.end, span.earliest, span.latest);
}

bool DeviceActivity::belongs(const Event& e, const WindowSpan& span, std::uint32_t& hint) {
  const std::uint32_t at = launches_.find(e.gpu.correlation, hint);
  if (at != LaunchIndex::kNotFound) {
    const Event& call = launches_.call(at);
    if (call.begin < span.begin || call.begin >= span.end || !is_possible(e, span)) return false;
    if (is_device_activity(e.hook)) launches_.mark_activity(at);
    return true;
  }
  // Correlation ids rise, so an earlier window launched this activity.
  if (e.gpu.correlation != 0 && first_correlation_ != 0 &&
      correlation_is_before(e.gpu.correlation, first_correlation_)) {
    return false;
  }
  const bool elsewhere = e.begin != 0 && (e.begin < span.begin || (e.begin >= span.end && e.begin <= span.latest));
  if (elsewhere || !is_possible(e, span)) return false;
  if (is_device_activity(e.hook)) ++counts_.orphans;
  return true;
}

void DeviceActivity::take(const Event& e, const WindowSpan& span, std::uint32_t& hint) {
  const bool is_sync = e.hook == HookId::kCudaSync;
  const StreamKey key{e.gpu.device, is_sync ? sync_stream(e.sync) : std::int64_t{e.gpu.stream}};
  if (e.hook == HookId::kCudaOverhead || e.hook == HookId::kCudaMemory) {
    if (e.begin < span.begin || e.begin >= span.end) return;
    if (e.hook == HookId::kCudaMemory) {
      memory_.push_back(&e);
    } else if (is_possible(e, span)) {
      overheads_.push_back(&e);
    }
    return;
  }
  if (!belongs(e, span, hint)) return;
  if (is_sync && e.sync.device == kUnknownDevice) {
    unplaced_syncs_.push_back(&e);
  } else if (is_sync) {
    streams_[key].syncs.push_back(&e);
  } else {
    context_devices_.note(e.gpu.context, e.gpu.device);
    streams_[key].activity.push_back(&e);
    counts_.kernels += e.hook == HookId::kKernel;
    counts_.memsets += e.hook == HookId::kMemset;
    counts_.graphs += e.hook == HookId::kGraphRun;
    counts_.copies += e.hook == HookId::kMemcpy || e.hook == HookId::kMemcpyPeer;
  }
  last_end_ = std::max(last_end_, e.end);
}

void DeviceActivity::place_syncs() {
  for (const Event* const sync : unplaced_syncs_) {
    const std::uint16_t device = context_devices_.device_of(sync->sync.context);
    if (device == kUnknownDevice)
      ++counts_.placeless;
    else
      streams_[{device, sync_stream(sync->sync)}].syncs.push_back(sync);
  }
}

// As in Kineto, a Stream Wait Event is shown only if its stream has activity.
void DeviceActivity::choose_syncs(Stream& stream) {
  if (stream.activity.empty()) {
    std::erase_if(stream.syncs, [](const Event* sync) { return sync->sync.kind == kStreamWaitEvent; });
  }
  std::uint32_t hint = 0;
  for (const Event* const sync : stream.syncs) {
    const std::uint32_t at = launches_.find(sync->sync.correlation, hint);
    if (at != LaunchIndex::kNotFound && has_arrow(*sync)) launches_.mark_sync(at);
  }
}

namespace {
// Contexts that follow each other (cudaDeviceReset) share a track.
bool contexts_overlap(const std::vector<const Event*>& activity) {
  const auto of_first = [&activity](const Event* e) { return e->gpu.context == activity[0]->gpu.context; };
  if (std::all_of(activity.begin(), activity.end(), of_first)) return false;
  std::map<std::uint32_t, Ticks> busy_until;
  for (const Event* const e : activity) {
    for (const auto& [context, until] : busy_until) {
      if (context != e->gpu.context && e->begin < until) return true;
    }
    Ticks& until = busy_until[e->gpu.context];
    until = std::max(until, e->end);
  }
  return false;
}
}  // namespace

// The lowest context id keeps the stream's track.
void DeviceActivity::separate_contexts() {
  std::map<StreamKey, Stream> separate;
  for (auto& [key, stream] : streams_) {
    if (!contexts_overlap(stream.activity)) continue;
    std::map<std::uint32_t, std::vector<const Event*>> by_context;
    for (const Event* const e : stream.activity) by_context[e->gpu.context].push_back(e);
    stream.activity = std::move(by_context.begin()->second);
    by_context.erase(by_context.begin());
    for (auto& [context, activity] : by_context) {
      separate[{key.device, key.stream, context}].activity = std::move(activity);
    }
  }
  streams_.merge(separate);
}

void DeviceActivity::gather_activity(const WindowSpan& span) {
  std::uint32_t hint = 0;
  for (const std::span<const Event> run : runs_) {
    for (const Event& e : run) {
      const HookId hook = e.hook;
      const bool device = is_device_activity(hook) || hook == HookId::kCudaSync || hook == HookId::kCudaOverhead ||
                          hook == HookId::kCudaMemory;
      if (device) take(e, span, hint);
    }
  }
  place_syncs();
  sort_slices(overheads_);
  for (auto& [key, stream] : streams_) {
    sort_slices(stream.activity);
    sort_slices(stream.syncs);
  }
  separate_contexts();
  for (auto& [key, stream] : streams_) {
    choose_syncs(stream);
    count_overlaps(stream);
  }
}

void DeviceActivity::count_overlaps(const Stream& stream) {
  Ticks busy_until = 0;
  for (const Event* const e : stream.activity) {
    counts_.overlapping += e->begin < busy_until;
    busy_until = std::max(busy_until, e->end);
  }
}

}  // namespace profshim::kineto
