#include <algorithm>

#include "converter.h"
#include "profshim/device/activity_kinds.h"
#include "profshim/device/correlation.h"

namespace profshim::device {
namespace {

constexpr std::uint32_t kDoesNotApply = ~std::uint32_t{0};

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

template <class Copy>
std::uint16_t copy_kind_of(const Copy& r) {
  return packed({r.copy_kind, r.source_kind, r.destination_kind});
}

}  // namespace

template <class Record>
Event Converter::activity_event(HookId hook, const Record& r) {
  context_devices_.note(r.context, r.device);
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

void Converter::note_activity(Event& event, std::uint32_t graph) {
  if (graph != 0 && graph_joins_uncertain_) ++losses_.uncertain_graph_nodes;
  event.gpu.external = launches_.external_of(event.gpu.correlation);
  launches_.on_activity(event.gpu.correlation, graph);
}

// Activity without valid times does not count as finished: it may still run.
template <class Record>
bool Converter::convert_activity_times(const Record& r, Event& event) {
  if (!convert_times(r.start, r.end, event)) return false;
  launches_.streams().on_finished(key(r.context, r.stream), r.correlation);
  return true;
}

void Converter::on_kernel(const cupti::KernelRecord& r) {
  Event event = activity_event(HookId::kKernel, r);
  event.flags = kContinues;
  note_activity(event, r.graph);
  if (!convert_activity_times(r, event)) return;
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
  Event event = activity_event(HookId::kMemcpy, r);
  event.gpu.kind = copy_kind_of(r);
  note_activity(event, r.graph);
  if (convert_activity_times(r, event)) output_.put(event, nullptr);
}

void Converter::on_peer_copy(const cupti::PeerCopyRecord& r) {
  Event event = activity_event(HookId::kMemcpyPeer, r);
  event.flags = kContinues;
  event.gpu.kind = copy_kind_of(r);
  note_activity(event, r.graph);
  if (!convert_activity_times(r, event)) return;
  Event more = continuation_of(event);
  more.peer = {r.source_device, r.destination_device, r.source_context, r.destination_context, {}};
  output_.put(event, &more);
}

void Converter::on_memset(const cupti::MemsetRecord& r) {
  Event event = activity_event(HookId::kMemset, r);
  event.gpu.kind = r.memory_kind;
  note_activity(event, r.graph);
  if (convert_activity_times(r, event)) output_.put(event, nullptr);
}

void Converter::on_graph(const cupti::GraphRecord& r) {
  Event event = activity_event(HookId::kGraphRun, r);
  note_activity(event, 0);  // no nodes follow the record of the whole graph
  if (convert_activity_times(r, event)) output_.put(event, nullptr);
}

const Converter::EventRecord* Converter::record_before(const cupti::SynchronizationRecord& wait) const {
  const auto made = event_records_.find(key(wait.context, wait.event));
  if (made == event_records_.end()) return nullptr;
  const auto after = std::partition_point(made->second.begin(), made->second.end(), [&](const EventRecord& one) {
    return correlation_is_before(one.correlation, wait.correlation);
  });
  return after == made->second.begin() ? nullptr : &*std::prev(after);
}

void Converter::on_synchronization(const cupti::SynchronizationRecord& r) {
  Event event;
  event.hook = HookId::kCudaSync;
  if (!convert_times(r.start, r.end, event)) return;
  if (r.type == kStreamSync) launches_.streams().on_finished(key(r.context, r.stream), r.correlation);
  event.sync = {};
  event.sync.correlation = r.correlation;
  event.sync.device = context_devices_.device_of(r.context);
  event.sync.kind = small(r.type);
  event.sync.context = r.context;
  event.sync.stream = r.stream;
  event.sync.event = r.event == kDoesNotApply ? kUnknownNumber : r.event;
  event.sync.record = kUnknownNumber;
  if (const EventRecord* const made = record_before(r); made != nullptr) {
    event.sync.record = made->correlation;
    event.sync.record_stream = made->stream;
  }
  output_.put(event, nullptr);
}

void Converter::on_overhead(const cupti::OverheadRecord& r) {
  Event event;
  event.hook = HookId::kCudaOverhead;
  if (!convert_times(r.start, r.end, event)) return;
  event.cuda_overhead = {};
  event.cuda_overhead.kind = static_cast<std::uint16_t>(r.overhead >> 16);
  output_.put(event, nullptr);
}

void Converter::on_memory(const cupti::MemoryRecord& r) {
  Event event;
  event.hook = HookId::kCudaMemory;
  if (!convert_times(r.timestamp, r.timestamp, event)) return;
  event.cuda_memory = {};
  event.cuda_memory.correlation = r.correlation;
  event.cuda_memory.device = small(r.device);
  event.cuda_memory.kind = small(r.operation);
  event.cuda_memory.context = r.context;
  event.cuda_memory.stream = r.stream;
  event.cuda_memory.bytes = r.bytes;
  event.cuda_memory.address = r.address;
  event.cuda_memory.memory_kind = r.memory_kind;
  output_.put(event, nullptr);
}

void Converter::on_device(const cupti::DeviceRecord& r) {
  if (!devices_.insert(r.id).second) return;
  output_.define(spool::DefinitionKind::kDevice, r.id, r.name != nullptr ? r.name : "", device_properties(r), {});
}

void Converter::on_stream(const cupti::StreamRecord& r) {
  const auto priority = static_cast<std::int32_t>(r.priority);
  launches_.streams().add_from_record(key(r.context, r.stream));
  const bool known = !streams_.insert_or_assign(key(r.context, r.stream), Stream{priority}).second;
  if (known) return;
  output_.define(spool::DefinitionKind::kStream, r.stream, "", "",
                 {context_devices_.device_of(r.context), r.context, priority, r.flag});
}

}  // namespace profshim::device
