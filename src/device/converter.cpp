#include "converter.h"

#include <algorithm>
#include <utility>

namespace profshim::device {
namespace {

constexpr std::uint32_t kDoesNotApply = ~std::uint32_t{0};
constexpr std::uint32_t kWaitForStream = 3;  // CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
constexpr std::size_t kMostHeld = 32;
constexpr std::size_t kMostRemembered = 1 << 16;
constexpr std::size_t kMostRecords = 8;  // of an event, for waits in later buffers
// Bytes of an entry of a table, with the allocator's share. The tables hold streams, contexts, events with their
// records.
constexpr std::size_t kEntryBytes = 48 + 48 + 64 + 16 * kMostRecords;

std::uint64_t key(std::uint32_t context, std::uint32_t number) { return std::uint64_t{context} << 32 | number; }

/// How much of a record must be there for us to read it; 0 = a kind that we do not read.
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

template <class T>
std::uint16_t small(T value) {
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 0, 0xffff));
}

Event continuation_of(const Event& first) {
  Event event;
  event.begin = first.begin;
  event.end = first.end;
  event.hook = HookId::kContinuation;
  return event;
}

}  // namespace

// A quarter of the memory for the three tables here, the rest for the launches.
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
  for (const std::size_t remembered : {event_records_.size(), streams_.size(), devices_of_contexts_.size()}) {
    if (remembered < most_remembered_) continue;
    event_records_.clear();
    streams_.clear();
    devices_of_contexts_.clear();
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
  // Records that tie calls to our ids, and contexts to devices, come first: they may lie in a later buffer than the
  // records that need them.
  for (const BufferPool::Filled& buffer : buffers) {
    each_record(buffer, [this](const cupti::Record* record) {
      if (record == nullptr) return;
      if (record->kind == cupti::kExternalCorrelationKind) {
        const auto& r = *reinterpret_cast<const cupti::ExternalRecord*>(record);
        if (r.external_kind == cupti::kOurExternalKind) {
          launches_.on_external(r.correlation, static_cast<std::uint32_t>(r.external));
        }
      } else if (record->kind == cupti::kContextKind) {
        const auto& r = *reinterpret_cast<const cupti::ContextRecord*>(record);
        note_context(r.context, r.device);
        launches_.on_stream(key(r.context, r.null_stream));
        if (r.api == cupti::kCudaUnderMps && !std::exchange(under_mps_, true)) {
          output_.define(spool::DefinitionKind::kFact, 0, "cuda_mps", "true", {});
        }
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
        record(*one);
      }
    });
  }
  if (synchronizations_.empty()) forget_old_event_records();
}

// Only after a flush it is known which records of events there are: that of the thread that recorded the event may lie
// in a buffer which is not full, while the buffer of the thread that waits is. Then, too, it is known to which device
// the context belongs.
void Converter::convert_synchronizations() {
  const auto earlier = [](const EventRecord& a, const EventRecord& b) { return a.correlation < b.correlation; };
  for (auto& [event, records] : event_records_) {
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
      // The call around it may still run, or lie in a buffer of its thread that was not full.
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

bool Converter::times(std::uint64_t start, std::uint64_t end, Event& event) {
  event.begin = clock_.of(start, earliest_, latest_);
  event.end = clock_.of(end, earliest_, latest_);
  if (event.begin == 0 || event.end == 0) {
    ++losses_.no_time;
  } else if (event.end < event.begin) {
    ++losses_.backwards;
  } else if (event.begin < earliest_ || event.end > latest_) {
    ++losses_.outside;
  } else {
    return true;
  }
  return false;
}

void Converter::record(const cupti::Record& r) {
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
      return;  // convert() has taken them
    default:
      ++losses_.unknown_kinds;
  }
}

// ---- calls
// -----------------------------------------------------------------------------------------------------------

void Converter::on_api(const cupti::ApiRecord& r) {
  const bool runtime = r.kind == cupti::kRuntimeKind;
  const ApiNames::Entry& entry = names_.of(runtime, r.callback_id);
  if (entry.role == ApiRole::kIgnored) return launches_.on_call(r.correlation);
  Event event;
  event.hook = HookId::kCudaApi;
  if (!times(r.start, r.end, event)) return;
  event.name = output_.text(entry.name.c_str());
  event.flags = r.result != 0 ? kFailed : 0;
  event.api = {};
  event.api.correlation = r.correlation;
  event.api.callback_id = r.callback_id;
  event.api.raw_thread = r.thread;
  event.api.tid = threads_.of(r.thread);
  if (event.api.tid == 0) ++calls_of_unknown_threads_;
  event.api.result = r.result;
  event.api.external = launches_.external_of(r.correlation);
  event.api.is_runtime = runtime ? 1 : 0;
  const bool launch =
      entry.role == ApiRole::kLaunch || entry.role == ApiRole::kGraphLaunch || entry.role == ApiRole::kSyncLaunch;
  event.api.is_launch = launch ? 1 : 0;

  if (entry.role == ApiRole::kBeginCapture && r.result == 0) launches_.on_begin_capture(r.thread);
  // With several contexts it is not known whose launches it has waited for.
  if (entry.role == ApiRole::kDeviceSync && r.result == 0 && devices_of_contexts_.size() <= 1) {
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
    replaced = settle_nested(event, entry.role, held->second);
  }
  // The driver's call was written already: one launch per correlation.
  if (!first && !replaced) event.api.is_launch = 0;
  output_.put(event, nullptr);
}

// The calls of the driver that have ended inside a call of the runtime are a part of it. True when one of them had the
// same correlation: the runtime's takes its place.
bool Converter::settle_nested(const Event& outer, ApiRole role, std::vector<HeldCall>& held) {
  const bool outer_launches = role == ApiRole::kLaunch || role == ApiRole::kSyncLaunch;
  bool replaced = false;
  std::erase_if(held, [&](const HeldCall& call) {
    const bool inside = call.event.begin >= outer.begin && call.event.end <= outer.end;
    const bool same = call.event.api.correlation == outer.api.correlation;
    replaced = replaced || (inside && same);
    if (inside && (same || call.event.api.is_launch == 0)) return true;
    if (inside && outer_launches) launches_.tie(call.event.api.correlation, outer.api.correlation);
    output_.put(call.event, nullptr);
    return true;
  });
  return replaced;
}

// ---- device work
// -----------------------------------------------------------------------------------------------------

namespace {

template <class Copy>
std::uint16_t copy_kind_of(const Copy& r) {
  return static_cast<std::uint16_t>(r.copy_kind | r.source_kind << 4 | r.destination_kind << 8);
}

}  // namespace

// The fields that all kinds of device work share.
template <class Record>
Event Converter::work_of(HookId hook, const Record& r) {
  note_context(r.context, r.device);
  Event event;
  event.hook = hook;
  event.gpu = {};
  event.gpu.correlation = r.correlation;
  event.gpu.device = small(r.device);
  event.gpu.context = r.context;
  event.gpu.stream = r.stream;
  event.gpu.graph = r.graph;
  if constexpr (requires { r.bytes; }) event.gpu.bytes = r.bytes;
  if constexpr (requires { r.graph_node; }) event.gpu.graph_node = r.graph_node;
  return event;
}

void Converter::work_done(Event& event, std::uint32_t graph) {
  if (graph != 0 && graph_joins_uncertain_) ++losses_.uncertain_graph_nodes;
  event.gpu.external = launches_.external_of(event.gpu.correlation);
  launches_.on_work(event.gpu.correlation, graph);
}

// Work without times may still run.
template <class Record>
bool Converter::times_of_work(const Record& r, Event& event) {
  if (!times(r.start, r.end, event)) return false;
  launches_.on_finished(key(r.context, r.stream), r.correlation);
  return true;
}

void Converter::on_kernel(const cupti::KernelRecord& r) {
  Event event = work_of(HookId::kKernel, r);
  event.flags = kContinues;
  work_done(event, r.graph);
  if (!times_of_work(r, event)) return;
  event.name = output_.text(r.name != nullptr && r.name[0] != 0 ? r.name : "(kernel without a name)");

  Event more = continuation_of(event);
  more.kernel = {};
  for (int i = 0; i < 3; ++i) {
    more.kernel.grid[i] = static_cast<std::uint32_t>(r.grid[i]);
    more.kernel.block[i] = small(r.block[i]);
    more.kernel.cluster[i] = small(r.cluster[i]);
  }
  more.kernel.registers_per_thread = r.registers_per_thread;
  more.kernel.static_shared_bytes = r.static_shared;
  more.kernel.dynamic_shared_bytes = r.dynamic_shared;
  more.kernel.channel = small(r.channel);
  more.kernel.channel_type = static_cast<std::uint8_t>(r.channel_type);
  if (const auto stream = streams_.find(key(r.context, r.stream)); stream != streams_.end()) {
    more.kernel.priority = static_cast<std::int16_t>(stream->second.priority);
    more.kernel.has_priority = 1;
  }
  output_.put(event, &more);
}

void Converter::on_copy(const cupti::MemcpyRecord& r) {
  Event event = work_of(HookId::kMemcpy, r);
  event.gpu.kind = copy_kind_of(r);
  work_done(event, r.graph);
  if (times_of_work(r, event)) output_.put(event, nullptr);
}

void Converter::on_peer_copy(const cupti::PeerCopyRecord& r) {
  Event event = work_of(HookId::kMemcpyPeer, r);
  event.flags = kContinues;
  event.gpu.kind = copy_kind_of(r);
  work_done(event, r.graph);
  if (!times_of_work(r, event)) return;
  Event more = continuation_of(event);
  more.peer = {r.source_device, r.destination_device, r.source_context, r.destination_context, {}};
  output_.put(event, &more);
}

void Converter::on_memset(const cupti::MemsetRecord& r) {
  Event event = work_of(HookId::kMemset, r);
  event.gpu.kind = r.memory_kind;
  work_done(event, r.graph);
  if (times_of_work(r, event)) output_.put(event, nullptr);
}

void Converter::on_graph(const cupti::GraphRecord& r) {
  Event event = work_of(HookId::kGraphRun, r);
  work_done(event, 0);  // the whole of it: no nodes follow
  if (times_of_work(r, event)) output_.put(event, nullptr);
}

std::uint32_t Converter::device_of(std::uint32_t context) const {
  const auto found = devices_of_contexts_.find(context);
  return found == devices_of_contexts_.end() ? kUnknownDevice : found->second;
}

// An event is recorded again and again: a wait is for the last record before it, and calls count up.
const Converter::EventRecord* Converter::record_before(const cupti::SynchronizationRecord& wait) const {
  const auto made = event_records_.find(key(wait.context, wait.event));
  if (made == event_records_.end()) return nullptr;
  const auto after = std::partition_point(made->second.begin(), made->second.end(),
                                          [&](const EventRecord& one) { return one.correlation < wait.correlation; });
  return after == made->second.begin() ? nullptr : &*std::prev(after);
}

void Converter::on_synchronization(const cupti::SynchronizationRecord& r) {
  Event event;
  event.hook = HookId::kCudaSync;
  if (!times(r.start, r.end, event)) return;
  if (r.type == kWaitForStream) launches_.on_finished(key(r.context, r.stream), r.correlation);
  event.gpu = {};
  event.gpu.correlation = r.correlation;
  event.gpu.device = small(device_of(r.context));
  event.gpu.kind = small(r.type);
  event.gpu.context = r.context;
  event.gpu.stream = r.stream;
  event.gpu.bytes = r.event == kDoesNotApply ? ~std::uint64_t{0} : r.event;
  event.gpu.graph_node = ~std::uint64_t{0};
  if (const EventRecord* const made = record_before(r); made != nullptr) {
    event.gpu.graph_node = made->correlation;
    event.gpu.external = made->stream;
  }
  output_.put(event, nullptr);
}

void Converter::on_overhead(const cupti::OverheadRecord& r) {
  Event event;
  event.hook = HookId::kCudaOverhead;
  if (!times(r.start, r.end, event)) return;
  event.gpu = {};
  event.gpu.kind = static_cast<std::uint16_t>(r.overhead >> 16);
  output_.put(event, nullptr);
}

void Converter::on_memory(const cupti::MemoryRecord& r) {
  Event event;
  event.hook = HookId::kCudaMemory;
  if (!times(r.timestamp, r.timestamp, event)) return;
  event.gpu = {};
  event.gpu.correlation = r.correlation;
  event.gpu.device = small(r.device);
  event.gpu.kind = small(r.operation);
  event.gpu.context = r.context;
  event.gpu.stream = r.stream;
  event.gpu.bytes = r.bytes;
  event.gpu.graph_node = r.address;
  event.gpu.external = r.memory_kind;
  output_.put(event, nullptr);
}

// ---- what there is
// ---------------------------------------------------------------------------------------------------

void Converter::on_device(const cupti::DeviceRecord& r) {
  if (!devices_.insert(r.id).second) return;
  output_.define(spool::DefinitionKind::kDevice, r.id, r.name != nullptr ? r.name : "", device_properties(r), {});
}

void Converter::on_stream(const cupti::StreamRecord& r) {
  const auto priority = static_cast<std::int32_t>(r.priority);
  launches_.on_stream_record(key(r.context, r.stream));
  const bool known = !streams_.insert_or_assign(key(r.context, r.stream), Stream{priority}).second;
  if (known) return;
  output_.define(spool::DefinitionKind::kStream, r.stream, "", "", {device_of(r.context), r.context, priority, r.flag});
}

}  // namespace profshim::device
