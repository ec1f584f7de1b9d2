#include "device_args.h"

#include <charconv>
#include <cmath>

#include "device_activity.h"
#include "device_names.h"

namespace profshim::kineto {
namespace {

constexpr KernelArgs kNoKernelArgs = {};

// Returns an element of deviceProperties, "" if the definition is damaged. Its text is an object or only the members.
std::string object_of(const spool::View& view, const spool::Definition& definition) {
  std::string members(view.string(definition.text, spool::kMaxText));
  if (members.starts_with('{') && members.ends_with('}')) members = members.substr(1, members.size() - 2);
  bool has_id = false, has_name = false;
  const std::string text = "{" + members + "}";
  const bool valid = valid_json(text) && json_leaves(text, [&](std::string_view path, const ReadEvent::ReadArg&) {
                       has_id = has_id || path == "id";
                       has_name = has_name || path == "name";
                     });
  if (!valid) return {};
  std::string object = "{";
  if (!has_id) object += "\"id\": " + std::to_string(definition.id) + ", ";
  if (!has_name) object += "\"name\": " + json_string(view.string(definition.name)) + ", ";
  object = members.empty() ? object.substr(0, object.size() - 2) : object + members;
  return object + "}";
}

// Rounds to six decimals, as Kineto prints floats. Takes no negative values. std::round() would make every process of
// the job load libm.
double six_decimals(double value) {
  constexpr double kExact = 1e9;
  return value < kExact ? static_cast<double>(static_cast<std::int64_t>(value * 1e6 + 0.5)) / 1e6 : value;
}

std::int64_t signed_or_unknown(std::uint64_t value) {
  return value == ~std::uint64_t{0} ? -1 : static_cast<std::int64_t>(value);
}

}  // namespace

DeviceArgs::DeviceArgs(const spool::View& view) {
  std::map<std::uint32_t, std::string> objects;  // a later definition of the same device wins
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
  if (external_id != 0) add("External id", external_id);
  add("cbid", std::uint64_t{call.api.callback_id});
  add("correlation", std::uint64_t{call.api.correlation});
  if (call.api.result != 0) add("result", std::uint64_t{call.api.result});
  if ((call.flags & kUnfinished) != 0) add("finished", false);
  return args_.all();
}

void DeviceArgs::add_place(const GpuArgs& gpu) {
  add("device", std::uint64_t{gpu.device});
  add("context", std::uint64_t{gpu.context});
  add("stream", std::uint64_t{gpu.stream});
  add("correlation", std::uint64_t{gpu.correlation});
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
  add("queued", std::int64_t{0});  // CUPTI's latency timestamps cost too much and are off
  add_place(gpu);
  add("registers per thread", std::uint64_t{k.registers_per_thread});
  add("shared memory", shared);
  double blocks_per_sm = 0;
  if (device.sms > 0) {
    blocks_per_sm = blocks / static_cast<double>(device.sms);
    add("blocks per SM", six_decimals(blocks_per_sm));
    add("warps per SM", six_decimals(blocks_per_sm * static_cast<double>(threads) /
                                     static_cast<double>(std::max<std::int64_t>(device.warp_size, 1))));
  }
  add("grid", list(grid_, k.grid[0], k.grid[1], k.grid[2]));
  add("block", list(block_, k.block[0], k.block[1], k.block[2]));
  const std::int64_t occupancy =
      achieved_occupancy_percent(device, {threads, k.registers_per_thread, shared}, blocks_per_sm);
  // Without a value we write 0, also for the launch of a whole graph (kGraphRun); Kineto writes -100.
  if (device.sms > 0) add("est. achieved occupancy %", std::max<std::int64_t>(occupancy, 0));
  add_graph(gpu);
  add_priority(gpu, k);
  if (k.channel_type != kNoByte && k.channel_type != 0) {
    add("channel", std::uint64_t{k.channel});
    add("channel_type", std::uint64_t{k.channel_type});
  }
  const auto cluster = std::uint64_t{k.cluster[0]} * k.cluster[1] * k.cluster[2];
  if (cluster > 1) add("cluster", list(cluster_, k.cluster[0], k.cluster[1], k.cluster[2]));
}

// CUPTI may report the stream after the kernel: in the buffer of the thread that made the stream.
void DeviceArgs::add_priority(const GpuArgs& gpu, const KernelArgs& k) {
  if (k.has_priority != 0) return add("priority", std::int64_t{k.priority});
  const auto found = priorities_.find({gpu.context, gpu.stream});
  if (found != priorities_.end() && k.grid[0] != 0) add("priority", found->second);
}

void DeviceArgs::add_copied(const GpuArgs& gpu, std::int64_t duration_ns) {
  add("bytes", gpu.bytes);
  // Bytes per nanosecond are GB per second.
  if (duration_ns > 0) {
    add("memory bandwidth (GB/s)", static_cast<double>(gpu.bytes) / static_cast<double>(duration_ns));
  }
  add_graph(gpu);
}

void DeviceArgs::add_graph(const GpuArgs& gpu) {
  if (gpu.graph == 0 && gpu.graph_node == 0) return;
  add("graph id", std::uint64_t{gpu.graph});
  add("graph node id", gpu.graph_node);
}

std::span<const Arg> DeviceArgs::of_activity(const Event& activity, const Event* second,
                                             const ActivityContext& context) {
  args_.clear();
  if (context.external_id != 0) add("External id", context.external_id);
  const GpuArgs& gpu = activity.gpu;
  if (activity.hook == HookId::kKernel || activity.hook == HookId::kGraphRun) {
    add_kernel(gpu, second != nullptr && activity.hook == HookId::kKernel ? second->kernel : kNoKernelArgs);
  } else if (activity.hook == HookId::kMemcpyPeer) {
    const PeerArgs peer = second != nullptr ? second->peer : PeerArgs{};
    add("fromDevice", std::uint64_t{peer.from_device});
    add("inDevice", std::uint64_t{gpu.device});
    add("toDevice", std::uint64_t{peer.to_device});
    add("fromContext", std::uint64_t{peer.from_context});
    add("inContext", std::uint64_t{gpu.context});
    add("toContext", std::uint64_t{peer.to_context});
    add("stream", std::uint64_t{gpu.stream});
    add("correlation", std::uint64_t{gpu.correlation});
    add_copied(gpu, context.duration_ns);
  } else {
    add_place(gpu);
    add_copied(gpu, context.duration_ns);
  }
  for (const Arg& arg : context.operation) add(arg.key, arg.value);
  if (context.step != nullptr) add("step", *context.step);
  return args_.all();
}

std::span<const Arg> DeviceArgs::of_sync(const Event& sync, std::uint16_t device) {
  args_.clear();
  const GpuArgs& gpu = sync.gpu;
  add("cuda_sync_kind", sync_kind_name(gpu.kind));
  if (gpu.kind == kEventSync || gpu.kind == kStreamWaitEvent) {
    add("wait_on_stream", gpu.external == 0 ? std::int64_t{-1} : std::int64_t{gpu.external});
    add("wait_on_cuda_event_record_corr_id", signed_or_unknown(gpu.graph_node));
    add("wait_on_cuda_event_id", signed_or_unknown(gpu.bytes));
  }
  add("stream", sync_stream(gpu));
  add("correlation", std::uint64_t{gpu.correlation});
  add("device", std::uint64_t{device});
  add("context", std::uint64_t{gpu.context});
  return args_.all();
}

std::span<const Arg> DeviceArgs::of_memory(const Event& memory) {
  // CUpti_ActivityMemoryKind: pageable and pinned memory is on the host. CUpti_ActivityMemoryOperationType: 2 = release
  constexpr std::uint32_t kPageable = 1, kPinned = 2;
  constexpr std::uint16_t kRelease = 2;
  args_.clear();
  const GpuArgs& gpu = memory.gpu;
  const bool host = gpu.external == kPageable || gpu.external == kPinned;
  const auto bytes = static_cast<std::int64_t>(gpu.bytes & (~std::uint64_t{0} >> 1));
  add("Device Type", std::int64_t{host ? 0 : 1});
  add("Device Id", host ? std::int64_t{-1} : std::int64_t{gpu.device});
  add("Addr", gpu.graph_node);
  add("Bytes", gpu.kind == kRelease ? -bytes : bytes);
  return args_.all();
}

}  // namespace profshim::kineto
