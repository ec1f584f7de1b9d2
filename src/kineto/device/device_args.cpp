#include "device_args.h"

#include <charconv>
#include <cmath>

#include "device_activity.h"
#include "device_names.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

namespace arg = schema::arg;

constexpr KernelArgs kNoKernelArgs = {};

// `definition.text` may lack the braces.
std::string object_of(const spool::View& view, const spool::Definition& definition) {
  std::string members(view.string(definition.text, spool::kMaxText));
  if (members.starts_with('{') && members.ends_with('}')) members = members.substr(1, members.size() - 2);
  bool has_id = false, has_name = false;
  const std::string text = "{" + members + "}";
  const bool valid = valid_json(text) && json_leaves(text, [&](std::string_view path, const JsonValue&) {
                       has_id = has_id || path == schema::device::kId;
                       has_name = has_name || path == schema::device::kName;
                     });
  if (!valid) return {};
  JsonWriter object;
  object.open_object();
  if (!has_id) object.member(schema::device::kId, definition.id);
  if (!has_name) object.member(schema::device::kName, view.string(definition.name));
  if (!members.empty()) object.raw(members);
  return object.close_object().text();
}

// Rounds a value >= 0 as Kineto does. std::round() would make every job process load libm.
double six_decimals(double value) {
  constexpr double kExact = 1e9;
  return value < kExact ? static_cast<double>(static_cast<std::int64_t>(value * 1e6 + 0.5)) / 1e6 : value;
}

std::int64_t signed_or_unknown(std::uint64_t value) {
  return value == ~std::uint64_t{0} ? -1 : static_cast<std::int64_t>(value);
}

}  // namespace

DeviceArgs::DeviceArgs(const spool::View& view) {
  std::map<std::uint32_t, std::string> objects;
  for (const spool::Definition* const d : view.definitions()) {
    const spool::DefinitionKind kind = d->kind.load(std::memory_order_acquire);
    const bool by_cupti = kind == spool::DefinitionKind::kStream && view.string(d->name).empty();
    if (by_cupti) priorities_.try_emplace({static_cast<std::uint32_t>(d->v[1]), d->id}, d->v[2]);
    if (kind != spool::DefinitionKind::kDevice) continue;
    if (std::string object = object_of(view, *d); !object.empty()) objects[d->id] = std::move(object);
  }
  for (auto& [id, object] : objects) {
    if (id <= 0xffff) limits_[static_cast<std::uint16_t>(id)] = device_limits(object);
    properties_.push_back(std::move(object));
  }
}

std::span<const Arg> DeviceArgs::of_call(const Event& call, std::uint64_t external_id) {
  args_.clear();
  if (external_id != 0) add(arg::kExternalId, external_id);
  add(arg::kCallbackId, std::uint64_t{call.api.callback_id});
  add(arg::kCorrelation, std::uint64_t{call.api.correlation});
  if (call.api.result != 0) add(arg::kResult, std::uint64_t{call.api.result});
  if ((call.flags & kUnfinished) != 0) add(arg::kFinished, false);
  return args_.all();
}

void DeviceArgs::add_place(const GpuArgs& gpu) {
  add(arg::kDevice, std::uint64_t{gpu.device});
  add(arg::kContext, std::uint64_t{gpu.context});
  add(arg::kStream, std::uint64_t{gpu.stream});
  add(arg::kCorrelation, std::uint64_t{gpu.correlation});
}

RawJson DeviceArgs::list(std::array<char, 40>& room, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  char* at = room.data();
  char* const end = room.data() + room.size();
  *at++ = '[';
  at = std::to_chars(at, end, static_cast<std::uint32_t>(x)).ptr;
  *at++ = ',';
  at = std::to_chars(at, end, static_cast<std::uint32_t>(y)).ptr;
  *at++ = ',';
  at = std::to_chars(at, end, static_cast<std::uint32_t>(z)).ptr;
  *at++ = ']';
  return {{room.data(), static_cast<std::size_t>(at - room.data())}};
}

void DeviceArgs::add_kernel(const GpuArgs& gpu, const KernelArgs& k) {
  static const DeviceLimits kUnknown;
  const auto found = limits_.find(gpu.device);
  const DeviceLimits& device = found == limits_.end() ? kUnknown : found->second;
  const auto blocks = static_cast<double>(k.grid[0]) * k.grid[1] * k.grid[2];
  const std::int64_t threads = std::int64_t{k.block[0]} * k.block[1] * k.block[2];
  const std::int64_t shared = std::int64_t{k.static_shared_bytes} + k.dynamic_shared_bytes;
  add(arg::kQueued, std::int64_t{0});  // CUPTI's latency timestamps cost too much
  add_place(gpu);
  add(arg::kRegisters, std::uint64_t{k.registers_per_thread});
  add(arg::kSharedMemory, shared);
  double blocks_per_sm = 0;
  if (device.sms > 0) {
    blocks_per_sm = blocks / static_cast<double>(device.sms);
    add(arg::kBlocksPerSm, six_decimals(blocks_per_sm));
    add(arg::kWarpsPerSm, six_decimals(blocks_per_sm * static_cast<double>(threads) /
                                       static_cast<double>(std::max<std::int64_t>(device.warp_size, 1))));
  }
  add(arg::kGrid, list(grid_, k.grid[0], k.grid[1], k.grid[2]));
  add(arg::kBlock, list(block_, k.block[0], k.block[1], k.block[2]));
  const std::int64_t occupancy =
      achieved_occupancy_percent(device, {threads, k.registers_per_thread, shared}, blocks_per_sm);
  // An unknown occupancy, as of a whole graph, is written as 0; Kineto writes -100.
  if (device.sms > 0) add(arg::kOccupancy, std::max<std::int64_t>(occupancy, 0));
  add_graph(gpu);
  add_priority(gpu, k);
  if (k.channel_type != kNoByte && k.channel_type != 0) {
    add(arg::kChannel, std::uint64_t{k.channel});
    add(arg::kChannelType, std::uint64_t{k.channel_type});
  }
  const auto cluster = std::uint64_t{k.cluster[0]} * k.cluster[1] * k.cluster[2];
  if (cluster > 1) add(arg::kCluster, list(cluster_, k.cluster[0], k.cluster[1], k.cluster[2]));
}

// A kernel's record may lack the priority; the stream's record, which may come later, has it.
void DeviceArgs::add_priority(const GpuArgs& gpu, const KernelArgs& k) {
  if (k.has_priority != 0) return add(arg::kPriority, std::int64_t{k.priority});
  const auto found = priorities_.find({gpu.context, gpu.stream});
  if (found != priorities_.end() && k.grid[0] != 0) add(arg::kPriority, found->second);
}

void DeviceArgs::add_copied(const GpuArgs& gpu, std::int64_t duration_ns) {
  add(arg::kBytes, gpu.bytes);
  if (duration_ns > 0) {
    add(arg::kBandwidth, static_cast<double>(gpu.bytes) / static_cast<double>(duration_ns));
  }
  add_graph(gpu);
}

void DeviceArgs::add_graph(const GpuArgs& gpu) {
  if (gpu.graph == 0 && gpu.graph_node == 0) return;
  add(arg::kGraphId, std::uint64_t{gpu.graph});
  add(arg::kGraphNodeId, gpu.graph_node);
}

std::span<const Arg> DeviceArgs::of_activity(const Event& activity, const Event* second,
                                             const ActivityContext& context) {
  args_.clear();
  if (context.external_id != 0) add(arg::kExternalId, context.external_id);
  const GpuArgs& gpu = activity.gpu;
  if (activity.hook == HookId::kKernel || activity.hook == HookId::kGraphRun) {
    add_kernel(gpu, second != nullptr && activity.hook == HookId::kKernel ? second->kernel : kNoKernelArgs);
  } else if (activity.hook == HookId::kMemcpyPeer) {
    const PeerArgs peer = second != nullptr ? second->peer : PeerArgs{};
    add(arg::kFromDevice, std::uint64_t{peer.from_device});
    add(arg::kInDevice, std::uint64_t{gpu.device});
    add(arg::kToDevice, std::uint64_t{peer.to_device});
    add(arg::kFromContext, std::uint64_t{peer.from_context});
    add(arg::kInContext, std::uint64_t{gpu.context});
    add(arg::kToContext, std::uint64_t{peer.to_context});
    add(arg::kStream, std::uint64_t{gpu.stream});
    add(arg::kCorrelation, std::uint64_t{gpu.correlation});
    add_copied(gpu, context.duration_ns);
  } else {
    add_place(gpu);
    add_copied(gpu, context.duration_ns);
  }
  for (const Arg& arg : context.operation) add(arg.key, arg.value);
  if (context.step != nullptr) add(arg::kStep, *context.step);
  return args_.all();
}

std::span<const Arg> DeviceArgs::of_sync(const Event& event, std::uint16_t device) {
  args_.clear();
  const SyncArgs& sync = event.sync;
  add(arg::kSyncKind, sync_kind_name(sync.kind));
  if (sync.kind == kEventSync || sync.kind == kStreamWaitEvent) {
    add(arg::kWaitOnStream, sync.record_stream == 0 ? std::int64_t{-1} : std::int64_t{sync.record_stream});
    add(arg::kWaitOnRecord, signed_or_unknown(sync.record));
    add(arg::kWaitOnEvent, signed_or_unknown(sync.event));
  }
  add(arg::kStream, sync_stream(sync));
  add(arg::kCorrelation, std::uint64_t{sync.correlation});
  add(arg::kDevice, std::uint64_t{device});
  add(arg::kContext, std::uint64_t{sync.context});
  return args_.all();
}

std::span<const Arg> DeviceArgs::of_memory(const Event& event) {
  // Values of CUpti_ActivityMemoryKind (pageable and pinned are host memory) and CUpti_ActivityMemoryOperationType.
  constexpr std::uint32_t kPageable = 1, kPinned = 2;
  constexpr std::uint16_t kRelease = 2;
  args_.clear();
  const CudaMemoryArgs& memory = event.cuda_memory;
  const bool host = memory.memory_kind == kPageable || memory.memory_kind == kPinned;
  const auto bytes = static_cast<std::int64_t>(memory.bytes & (~std::uint64_t{0} >> 1));
  add(arg::kDeviceType, std::int64_t{host ? 0 : 1});
  add(arg::kDeviceId, host ? std::int64_t{-1} : std::int64_t{memory.device});
  add(arg::kAddress, memory.address);
  add(arg::kMemoryBytes, memory.kind == kRelease ? -bytes : bytes);
  return args_.all();
}

}  // namespace profshim::kineto
