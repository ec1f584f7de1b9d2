#include "converter.h"

#include <algorithm>
#include <utility>

#include "profshim/device/correlation.h"
#include "profshim/trace/schema.h"

namespace profshim::device {
namespace {

constexpr std::size_t kMostHeld = 32;
constexpr std::size_t kMostRemembered = 1 << 16;
constexpr std::size_t kMostRecords = 8;  // cudaEventRecords per event, kept for waits in later buffers
// Bytes of one entry in each map that begin_round() clears, with allocator overhead.
constexpr std::size_t kEntryBytes = 48 + 48 + 64 + 16 * kMostRecords;

std::size_t bytes_of(std::uint32_t kind) {
  switch (kind) {
    case cupti::kRuntimeKind:
    case cupti::kDriverKind:
      return sizeof(cupti::ApiRecord);
    case cupti::kKernelKind:
    case cupti::kConcurrentKernelKind:
      return offsetof(cupti::KernelRecord, cluster) + sizeof(cupti::KernelRecord::cluster);
    case cupti::kMemcpyKind:
      return offsetof(cupti::MemcpyRecord, graph) + sizeof(std::uint32_t);
    case cupti::kPeerCopyKind:
      return offsetof(cupti::PeerCopyRecord, graph) + sizeof(std::uint32_t);
    case cupti::kMemsetKind:
      return offsetof(cupti::MemsetRecord, graph) + sizeof(std::uint32_t);
    case cupti::kGraphTraceKind:
      return offsetof(cupti::GraphRecord, stream) + sizeof(std::uint32_t);
    case cupti::kSynchronizationKind:
      return sizeof(cupti::SynchronizationRecord);
    case cupti::kOverheadKind:
      return sizeof(cupti::OverheadRecord);
    case cupti::kMemoryKind:
      return offsetof(cupti::MemoryRecord, stream) + sizeof(std::uint32_t);
    case cupti::kCudaEventKind:
      return offsetof(cupti::CudaEventRecord, event) + sizeof(std::uint32_t);
    case cupti::kExternalCorrelationKind:
      return offsetof(cupti::ExternalRecord, correlation) + sizeof(std::uint32_t);
    case cupti::kDeviceKind:
      return sizeof(cupti::DeviceRecord);
    case cupti::kContextKind:
      return sizeof(cupti::ContextRecord);
    case cupti::kStreamKind:
      return sizeof(cupti::StreamRecord);
    default:
      return 0;
  }
}

}  // namespace

Converter::Converter(const ActivityScope& scope, EventOutput& output, std::size_t table_bytes)
    : scope_(scope),
      output_(output),
      most_remembered_(std::min(table_bytes / 4 / kEntryBytes, kMostRemembered)),
      launches_(table_bytes / 4 * 3) {}

void Converter::begin_round(Ticks earliest, Ticks latest, std::int64_t now_ns) {
  earliest_ = earliest;
  latest_ = latest;
  threads_.begin_batch();
  launches_.begin_round(now_ns);
  for (const std::size_t remembered : {event_records_.size(), streams_.size(), context_devices_.size()}) {
    if (remembered < most_remembered_) continue;
    event_records_.clear();
    streams_.clear();
    context_devices_.clear();
    break;
  }
}

template <class Visit>
void Converter::each_record(const BufferPool::Filled& buffer, const Visit& visit) {
  cupti::Record* at = nullptr;
  for (;;) {
    const int result = scope_.next_record(buffer.data, buffer.valid, &at);
    if (result == cupti::kMaxLimitReached) return;
    const auto* const place = reinterpret_cast<const std::uint8_t*>(at);
    const std::uint8_t* const end = buffer.data + buffer.valid;
    const bool inside = result == cupti::kSuccess && place >= buffer.data && place + sizeof(cupti::Record) <= end;
    if (!inside || static_cast<std::size_t>(end - place) < bytes_of(at->kind)) {
      visit(nullptr);
      return;
    }
    visit(at);
  }
}

void Converter::convert(const std::vector<BufferPool::Filled>& buffers) {
  // The second pass needs these records, which may lie in later buffers.
  for (const BufferPool::Filled& buffer : buffers) {
    each_record(buffer, [this](const cupti::Record* record) {
      if (record == nullptr) return;
      if (record->kind == cupti::kExternalCorrelationKind) {
        const auto& r = *reinterpret_cast<const cupti::ExternalRecord*>(record);
        if (r.external_kind == cupti::kOurExternalKind) {
          launches_.on_external(r.correlation, static_cast<std::uint32_t>(r.external));
        }
      } else if (record->kind == cupti::kContextKind) {
        on_context(*reinterpret_cast<const cupti::ContextRecord*>(record));
      } else if (record->kind == cupti::kCudaEventKind) {
        const auto& r = *reinterpret_cast<const cupti::CudaEventRecord*>(record);
        const std::uint64_t which = key(r.context, r.event);
        if (event_records_.size() < most_remembered_ || event_records_.count(which) != 0) {
          event_records_[which].push_back({r.correlation, r.stream});
        }
      }
    });
  }
  for (const BufferPool::Filled& buffer : buffers) {
    each_record(buffer, [this](const cupti::Record* one) {
      if (one == nullptr) {
        ++losses_.truncated;
      } else {
        convert_record(*one);
      }
    });
  }
  if (synchronizations_.empty()) forget_old_event_records();
}

void Converter::learn_streams(const std::vector<BufferPool::Filled>& buffers) {
  for (const BufferPool::Filled& buffer : buffers) {
    each_record(buffer, [this](const cupti::Record* record) {
      if (record == nullptr) return;
      if (record->kind == cupti::kContextKind) on_context(reinterpret_cast<const cupti::ContextRecord&>(*record));
      if (record->kind == cupti::kDeviceKind || record->kind == cupti::kStreamKind) convert_record(*record);
    });
  }
}

void Converter::on_context(const cupti::ContextRecord& r) {
  context_devices_.note(r.context, r.device);
  launches_.streams().add(key(r.context, r.null_stream));
  if (r.api == cupti::kCudaUnderMps && !std::exchange(under_mps_, true)) {
    output_.define(spool::DefinitionKind::kMetadata, 0, schema::ours::kCudaMps, "true", {});
  }
}

// Called after a flush, which brings the cudaEventRecord of each wait, or when synchronizations_ is full.
void Converter::convert_synchronizations() {
  for (auto& [event, records] : event_records_) {
    const CorrelationOrder order(records.back().correlation);
    const auto earlier = [order](const EventRecord& a, const EventRecord& b) {
      return order(a.correlation, b.correlation);
    };
    if (!std::is_sorted(records.begin(), records.end(), earlier)) std::sort(records.begin(), records.end(), earlier);
  }
  for (const cupti::SynchronizationRecord& one : synchronizations_) on_synchronization(one);
  synchronizations_.clear();
  forget_old_event_records();
}

void Converter::forget_old_event_records() {
  for (auto& [event, records] : event_records_) {
    if (records.size() > kMostRecords) records.erase(records.begin(), records.end() - kMostRecords);
  }
}

void Converter::end_round(bool flushed, bool last) {
  if (!flushed && !last) return;
  if (!synchronizations_.empty()) convert_synchronizations();
  for (auto& [thread, held] : held_) {
    std::erase_if(held, [&](const HeldCall& call) {
      // Keep calls until the second flush: the runtime call around the held call may still run.
      if (!last && call.flushes == flushes_) return false;
      output_.put(call.event, nullptr);
      return true;
    });
  }
  std::erase_if(held_, [](const auto& entry) { return entry.second.empty(); });
  ++flushes_;
}

Ticks Converter::oldest_held() const {
  Ticks oldest = LaunchTracker::kNothing;
  for (const auto& [thread, held] : held_) {
    for (const HeldCall& call : held) oldest = std::min(oldest, call.event.begin);
  }
  return oldest;
}

bool Converter::convert_times(std::uint64_t start, std::uint64_t end, Event& event) {
  event.begin = clock_.ticks_of(start, earliest_, latest_);
  event.end = clock_.ticks_of(end, earliest_, latest_);
  if (event.end != 0 && event.end < skip_before_) return false;
  return losses_.times.admit(event.begin, event.end, earliest_, latest_);
}

void Converter::convert_record(const cupti::Record& r) {
  switch (r.kind) {
    case cupti::kRuntimeKind:
    case cupti::kDriverKind:
      return on_api(reinterpret_cast<const cupti::ApiRecord&>(r));
    case cupti::kKernelKind:
    case cupti::kConcurrentKernelKind:
      return on_kernel(reinterpret_cast<const cupti::KernelRecord&>(r));
    case cupti::kMemcpyKind:
      return on_copy(reinterpret_cast<const cupti::MemcpyRecord&>(r));
    case cupti::kPeerCopyKind:
      return on_peer_copy(reinterpret_cast<const cupti::PeerCopyRecord&>(r));
    case cupti::kMemsetKind:
      return on_memset(reinterpret_cast<const cupti::MemsetRecord&>(r));
    case cupti::kGraphTraceKind:
      return on_graph(reinterpret_cast<const cupti::GraphRecord&>(r));
    case cupti::kSynchronizationKind:
      if (synchronizations_.size() >= most_remembered_) convert_synchronizations();
      synchronizations_.push_back(reinterpret_cast<const cupti::SynchronizationRecord&>(r));
      return;
    case cupti::kOverheadKind:
      return on_overhead(reinterpret_cast<const cupti::OverheadRecord&>(r));
    case cupti::kMemoryKind:
      return on_memory(reinterpret_cast<const cupti::MemoryRecord&>(r));
    case cupti::kDeviceKind:
      return on_device(reinterpret_cast<const cupti::DeviceRecord&>(r));
    case cupti::kStreamKind:
      return on_stream(reinterpret_cast<const cupti::StreamRecord&>(r));
    case cupti::kExternalCorrelationKind:
    case cupti::kContextKind:
    case cupti::kCudaEventKind:
      return;  // done in the first pass
    default:
      ++losses_.unknown_kinds;
  }
}

void Converter::on_api(const cupti::ApiRecord& r) {
  const bool runtime = r.kind == cupti::kRuntimeKind;
  const ApiNames::Entry& entry = names_.entry_of(runtime, r.callback_id);
  if (entry.role == ApiRole::kIgnored) return launches_.on_call(r.correlation);
  Event event;
  event.hook = HookId::kCudaApi;
  if (!convert_times(r.start, r.end, event)) return;
  event.name = output_.text(entry.name.c_str());
  event.flags = r.result != 0 ? kFailed : 0;
  event.api = {};
  event.api.correlation = r.correlation;
  event.api.callback_id = r.callback_id;
  event.api.raw_thread = r.thread;
  event.api.tid = threads_.tid_of(r.thread);
  if (event.api.tid == 0) ++calls_of_unknown_threads_;
  event.api.result = r.result;
  event.api.external = launches_.external_of(r.correlation);
  event.api.is_runtime = runtime ? 1 : 0;
  const bool launch = launches_activity(entry.role);
  event.api.is_launch = launch ? 1 : 0;

  if (entry.role == ApiRole::kBeginCapture && r.result == 0) launches_.on_begin_capture(r.thread, event.begin);
  // CUPTI does not name the context of the wait, so several contexts leave it unknown.
  if (entry.role == ApiRole::kDeviceSync && r.result == 0 && context_devices_.size() <= 1) {
    launches_.on_idle_device(event.begin);
  }
  if (entry.role == ApiRole::kEndCapture) launches_.on_end_capture(r.thread, event.begin);
  bool first = true;
  if (launch && r.result == 0) {
    first = launches_.on_launch(r.correlation, event.begin, r.thread, entry.role);
  } else {
    launches_.on_call(r.correlation);
  }

  if (!runtime) {
    std::vector<HeldCall>& held = held_[r.thread];
    if (held.size() >= kMostHeld) {
      output_.put(held.front().event, nullptr);
      held.erase(held.begin());
    }
    held.push_back({event, entry.role, flushes_});
    return;
  }
  bool replaced = false;
  if (const auto held = held_.find(r.thread); held != held_.end()) {
    replaced = settle_nested_calls(event, entry.role, held->second);
  }
  if (launch) note_launch_id(r.thread, r.correlation);
  // The driver call was put out as the launch.
  if (!first && !replaced) event.api.is_launch = 0;
  output_.put(event, nullptr);
}

void Converter::note_launch_id(std::uint32_t thread, std::uint32_t correlation) {
  if (last_launch_.size() >= most_remembered_) last_launch_.clear();
  std::uint32_t& last = last_launch_[thread];
  if (last == correlation) ++losses_.repeated_ids;
  last = correlation;
}

// Drops driver calls inside the runtime call `outer`, except launches with another correlation id; puts out the rest of
// `held`. Returns true if a dropped call had the correlation id of `outer`.
bool Converter::settle_nested_calls(const Event& outer, ApiRole role, std::vector<HeldCall>& held) {
  const bool outer_launches = launches_activity(role) && role != ApiRole::kGraphLaunch;
  bool replaced = false;
  std::erase_if(held, [&](const HeldCall& call) {
    const bool inside = is_made_inside(call.event, outer);
    const bool same = call.event.api.correlation == outer.api.correlation && is_launch_rather_than(outer, call.event);
    replaced = replaced || (inside && same);
    if (inside && (same || call.event.api.is_launch == 0)) return true;
    if (inside && outer_launches) launches_.tie(call.event.api.correlation, outer.api.correlation);
    output_.put(call.event, nullptr);
    return true;
  });
  return replaced;
}

}  // namespace profshim::device
