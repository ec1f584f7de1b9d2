// The fields of CUPTI's records that we read. From 11.8 to 13.0, CUPTI only added fields at the end: these prefixes fit
// all releases (checked in tests/unit/device).
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::device::cupti {

/// CUpti_ActivityKind
enum Kind : std::uint32_t {
  kMemcpyKind = 1,
  kMemsetKind = 2,
  kKernelKind = 3,  // never enabled: CUPTI_ACTIVITY_KIND_KERNEL serializes kernels
  kDriverKind = 4,
  kRuntimeKind = 5,
  kDeviceKind = 8,
  kContextKind = 9,
  kConcurrentKernelKind = 10,
  kOverheadKind = 17,
  kPeerCopyKind = 22,
  kCudaEventKind = 36,
  kStreamKind = 37,
  kSynchronizationKind = 38,
  kExternalCorrelationKind = 39,
  kMemoryKind = 49,
  kGraphTraceKind = 51,
};

/// CUptiResult
enum Result : int {
  kSuccess = 0,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotSupported = 27,
  kInsufficientPrivileges = 35,
  kMultipleSubscribers = 39,
  kVirtualInsufficientPrivileges = 40,
  kUnknown = 999,
};

/// CUpti_CallbackDomain
inline constexpr int kDriverDomain = 1, kRuntimeDomain = 2;
/// CUpti_ExternalCorrelationKind: Kineto owns CUSTOM0 and CUSTOM1.
inline constexpr int kOurExternalKind = 5;  // CUSTOM2
/// CUpti_ActivityFlag
inline constexpr std::uint32_t kFlushForced = 1;
/// First cuptiGetVersion() that accepts a null buffer.
inline constexpr std::uint32_t kMayRefuseBuffers = 27;
/// cuptiGetVersion() of 13.0 and of 13.1 update 1.
inline constexpr std::uint32_t kFirstToMixUpGraphs = 130000, kFixedGraphs = 130101;
/// cuptiGetVersion() of 13.3 update 1.
inline constexpr std::uint32_t kSubscribersShare = 130301;
/// cuDriverGetVersion() of r610.
inline constexpr int kDriverOfSubscribers = 13030;
/// CUPTI 11.8: the first with all fields below.
inline constexpr std::uint32_t kOldestVersion = 18;

struct Record {
  std::uint32_t kind;
};

struct ApiRecord {
  std::uint32_t kind;
  std::uint32_t callback_id;
  std::uint64_t start, end;
  std::uint32_t process;
  std::uint32_t thread;  // low 32 bits of pthread_self()
  std::uint32_t correlation;
  std::uint32_t result;
};

struct KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache_config, shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache[2];
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, carveout[2], padding;
  std::uint32_t shared_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_limit;
  std::uint32_t graph;
  void* access_policy;
  std::uint32_t channel;
  std::uint32_t channel_type;
  std::uint32_t cluster[3];
};

struct MemcpyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind, source_kind, destination_kind, flags;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation, padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct PeerCopyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind, source_kind, destination_kind, flags;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t source_device, source_context, destination_device, destination_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct MemsetRecord {
  std::uint32_t kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start, end;
  std::uint32_t device, context, stream;
  std::uint32_t correlation;
  std::uint16_t flags, memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct GraphRecord {
  std::uint32_t kind;
  std::uint32_t correlation;
  std::uint64_t start, end;
  std::uint32_t device, graph, context, stream;
};

struct SynchronizationRecord {
  std::uint32_t kind;
  std::uint32_t type;
  std::uint64_t start, end;
  std::uint32_t correlation, context, stream, event;  // stream, event: ~0 = does not apply
};

struct OverheadRecord {
  std::uint32_t kind;
  std::uint32_t overhead;
  std::uint32_t object_kind;
  std::uint32_t object[3];
  std::uint64_t start, end;
};

struct MemoryRecord {
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address, bytes;
  std::uint64_t timestamp;
  std::uint64_t program_counter;
  std::uint32_t process, device, context, stream;
};

struct CudaEventRecord {
  std::uint32_t kind;
  std::uint32_t correlation, context, stream, event;
};

struct ExternalRecord {
  std::uint32_t kind;
  std::uint32_t external_kind;
  std::uint64_t external;
  std::uint32_t correlation;
};

struct DeviceRecord {
  std::uint32_t kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth, memory_bytes;
  std::uint32_t constant_memory, l2_cache, threads_per_warp, clock_rate, copy_engines, multiprocessors, instructions;
  std::uint32_t warps_per_multiprocessor, blocks_per_multiprocessor, shared_per_multiprocessor;
  std::uint32_t registers_per_multiprocessor, registers_per_block, shared_per_block, threads_per_block;
  std::uint32_t block_dimensions[3], grid_dimensions[3];
  std::uint32_t major, minor;
  std::uint32_t id;
  std::uint32_t ecc;
  std::uint8_t uuid[16];
  const char* name;  // never freed: CUPTI 13.2 wants clients to free names, but names are shared up to CUPTI 12
  std::uint8_t visible, is_mig, reserved[6];
  std::uint32_t gpu_instance, compute_instance;
  std::uint8_t mig_uuid[16];
};

/// CUpti_ActivityComputeApiKind
inline constexpr std::uint16_t kCudaUnderMps = 2;

struct ContextRecord {
  std::uint32_t kind;
  std::uint32_t context, device;
  std::uint16_t api, null_stream;
};

struct StreamRecord {
  std::uint32_t kind;
  std::uint32_t context, stream;
  std::uint32_t priority;
  std::uint32_t flag;
};

static_assert(sizeof(ApiRecord) == 40);
static_assert(offsetof(KernelRecord, registers_per_thread) == 6 && offsetof(KernelRecord, start) == 16 &&
              offsetof(KernelRecord, device) == 40 && offsetof(KernelRecord, grid) == 52 &&
              offsetof(KernelRecord, correlation) == 92 && offsetof(KernelRecord, name) == 104 &&
              offsetof(KernelRecord, graph_node) == 144 && offsetof(KernelRecord, graph) == 156 &&
              offsetof(KernelRecord, channel) == 168 && offsetof(KernelRecord, cluster) == 176);
static_assert(offsetof(MemcpyRecord, bytes) == 8 && offsetof(MemcpyRecord, correlation) == 44 &&
              offsetof(MemcpyRecord, graph_node) == 64 && offsetof(MemcpyRecord, graph) == 72);
static_assert(offsetof(PeerCopyRecord, source_device) == 44 && offsetof(PeerCopyRecord, correlation) == 60 &&
              offsetof(PeerCopyRecord, graph_node) == 72 && offsetof(PeerCopyRecord, graph) == 80);
static_assert(offsetof(MemsetRecord, correlation) == 44 && offsetof(MemsetRecord, memory_kind) == 50 &&
              offsetof(MemsetRecord, graph_node) == 64 && offsetof(MemsetRecord, graph) == 72);
static_assert(offsetof(OverheadRecord, start) == 24 && offsetof(MemoryRecord, timestamp) == 32);
static_assert(offsetof(ContextRecord, null_stream) == 14);
static_assert(offsetof(DeviceRecord, id) == 112 && offsetof(DeviceRecord, name) == 136 &&
              offsetof(DeviceRecord, gpu_instance) == 152 && offsetof(DeviceRecord, mig_uuid) == 160);

}  // namespace profshim::device::cupti
