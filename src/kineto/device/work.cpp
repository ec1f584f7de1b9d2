#include "work.h"

#include <algorithm>

namespace profshim::kineto {
namespace {

// Correlations count up over the life of the process, and start again at 2^32.
bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

// A call that had not ended when it was recorded has no end.
bool is_unfinished(const Event& call) { return call.end == 0 || (call.flags & kUnfinished) != 0; }

}  // namespace

void DeviceWork::gather_calls(const WindowSpan& span) {
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
    if (inside && !is_unfinished(e) && !possible(e, span)) return;
    launches_.add(e);
  });
  launches_.finish(span.begin, span.end);
  for_each_call([this](const Event& call) {
    ++counts_.api_calls;
    if (!is_unfinished(call)) last_end_ = std::max(last_end_, call.end);
    const std::uint32_t correlation = call.api.correlation;
    if (first_correlation_ == 0 || is_before(correlation, first_correlation_)) first_correlation_ = correlation;
  });
}

// Counts by reason what is not.
bool DeviceWork::possible(const Event& e, const WindowSpan& span) {
  if (e.begin == 0 || e.end == 0) {
    ++counts_.zero_time;
  } else if (e.end < e.begin) {
    ++counts_.reversed_time;
  } else if (e.begin < span.earliest || e.end > span.latest) {
    ++counts_.outside_time;
  } else {
    return true;
  }
  return false;
}

bool DeviceWork::belongs(const Event& e, const WindowSpan& span, std::uint32_t& hint) {
  const std::uint32_t at = launches_.find(e.gpu.correlation, hint);
  if (at != LaunchIndex::kNotFound) {
    const Event& call = launches_.call(at);
    if (call.begin < span.begin || call.begin >= span.end || !possible(e, span)) return false;
    if (is_stream_work(e.hook)) launches_.mark_work(at);
    return true;
  }
  // Launched before the first call of this window: the window before has it.
  if (e.gpu.correlation != 0 && first_correlation_ != 0 && is_before(e.gpu.correlation, first_correlation_)) {
    return false;
  }
  const bool elsewhere = e.begin != 0 && (e.begin < span.begin || (e.begin >= span.end && e.begin <= span.latest));
  if (elsewhere || !possible(e, span)) return false;
  if (is_stream_work(e.hook)) ++counts_.orphans;
  return true;
}

void DeviceWork::take(const Event& e, const WindowSpan& span, std::uint32_t& hint) {
  const bool is_sync = e.hook == HookId::kCudaSync;
  const StreamKey key{e.gpu.device, is_sync ? sync_stream(e.gpu) : std::int64_t{e.gpu.stream}};
  if (e.hook == HookId::kCudaOverhead || e.hook == HookId::kCudaMemory) {
    if (e.begin < span.begin || e.begin >= span.end) return;
    if (e.hook == HookId::kCudaMemory) {
      memory_.push_back(&e);
    } else if (possible(e, span)) {
      overheads_.push_back(&e);
    }
    return;
  }
  if (!belongs(e, span, hint)) return;
  if (is_sync && e.gpu.device == kUnknownDevice) {
    unplaced_syncs_.push_back(&e);
  } else if (is_sync) {
    streams_[key].syncs.push_back(&e);
  } else {
    devices_of_contexts_.emplace(e.gpu.context, e.gpu.device);
    streams_[key].work.push_back(&e);
    counts_.kernels += e.hook == HookId::kKernel;
    counts_.memsets += e.hook == HookId::kMemset;
    counts_.graphs += e.hook == HookId::kGraphRun;
    counts_.copies += e.hook == HookId::kMemcpy || e.hook == HookId::kMemcpyPeer;
  }
  last_end_ = std::max(last_end_, e.end);
}

void DeviceWork::place_syncs() {
  for (const Event* const sync : unplaced_syncs_) {
    const auto found = devices_of_contexts_.find(sync->gpu.context);
    if (found == devices_of_contexts_.end())
      ++counts_.placeless;
    else
      streams_[{found->second, sync_stream(sync->gpu)}].syncs.push_back(sync);
  }
}

// As Kineto: a stream's wait is shown only where there was work that could wait, and an arrow leads to every wait but
// those for an event.
void DeviceWork::choose_syncs(Stream& stream) {
  if (stream.work.empty()) {
    std::erase_if(stream.syncs, [](const Event* sync) { return sync->gpu.kind == kStreamWaitEvent; });
  }
  std::uint32_t hint = 0;
  for (const Event* const sync : stream.syncs) {
    const std::uint32_t at = launches_.find(sync->gpu.correlation, hint);
    if (at != LaunchIndex::kNotFound && has_arrow(*sync)) launches_.mark_sync(at);
  }
}

void DeviceWork::order(std::vector<const Event*>& events) {
  const auto earlier = [](const Event* a, const Event* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) std::sort(events.begin(), events.end(), earlier);
}

namespace {
// Contexts that follow each other, as after cudaDeviceReset, share a line.
bool contexts_overlap(const std::vector<const Event*>& work) {
  const auto of_first = [&work](const Event* e) { return e->gpu.context == work[0]->gpu.context; };
  if (std::all_of(work.begin(), work.end(), of_first)) return false;
  std::map<std::uint32_t, Ticks> busy_until;
  for (const Event* const e : work) {
    for (const auto& [context, until] : busy_until) {
      if (context != e->gpu.context && e->begin < until) return true;
    }
    Ticks& until = busy_until[e->gpu.context];
    until = std::max(until, e->end);
  }
  return false;
}
}  // namespace

// The lowest context keeps the stream's line.
void DeviceWork::part_contexts() {
  std::map<StreamKey, Stream> parted;
  for (auto& [key, stream] : streams_) {
    if (!contexts_overlap(stream.work)) continue;
    std::map<std::uint32_t, std::vector<const Event*>> by_context;
    for (const Event* const e : stream.work) by_context[e->gpu.context].push_back(e);
    stream.work = std::move(by_context.begin()->second);
    by_context.erase(by_context.begin());
    for (auto& [context, work] : by_context) parted[{key.device, key.stream, context}].work = std::move(work);
  }
  streams_.merge(parted);
}

void DeviceWork::gather_work(const WindowSpan& span) {
  std::uint32_t hint = 0;
  for (const std::span<const Event> run : runs_) {
    for (const Event& e : run) {
      const HookId hook = e.hook;
      const bool device = is_stream_work(hook) || hook == HookId::kCudaSync || hook == HookId::kCudaOverhead ||
                          hook == HookId::kCudaMemory;
      if (device) take(e, span, hint);
    }
  }
  place_syncs();
  order(overheads_);
  for (auto& [key, stream] : streams_) {
    order(stream.work);
    order(stream.syncs);
  }
  part_contexts();
  for (auto& [key, stream] : streams_) {
    choose_syncs(stream);
    Ticks busy_until = 0;
    for (const Event* const e : stream.work) {
      counts_.overlapping += e->begin < busy_until;
      busy_until = std::max(busy_until, e->end);
    }
  }
}

}  // namespace profshim::kineto
