// Layouts of CUPTI 13.0's activity records. Older releases write a prefix, newer ones add fields (see Sizes).
// records_test.cpp compares these structs with installed vendor headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake::cupti {

enum Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,
  kGraphTrace = 51,
  kKinds = 64,
};

struct Kernel {  // CUpti_ActivityKernel10
  std::uint32_t kind;
  std::uint8_t cache_config, shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_requested, partitioned_executed;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved0;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, carveout_requested, carveout, padding;
  std::uint32_t shared_executed;
  std::uint64_t graph_node;
  std::uint32_t shmem_limit, graph;
  void* access_policy;
  std::uint32_t channel, channel_type;
  std::uint32_t cluster[3], cluster_policy;
  std::uint64_t local_total_v2;                    // end of Kernel8: 200 bytes
  std::uint32_t maximum_cluster, active_clusters;  // end of Kernel9: 208
  std::uint8_t device_launched, padding3[7];
};

struct Memcpy {  // CUpti_ActivityMemcpy6
  std::uint32_t kind;
  std::uint8_t copy_kind, source, target, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void* reserved0;
  std::uint64_t graph_node;
  std::uint32_t graph, channel, channel_type;
  std::uint8_t device_launched, pad2[3];
  std::uint64_t copy_count;
};

struct MemcpyPeer {  // CUpti_ActivityMemcpyPtoP4
  std::uint32_t kind;
  std::uint8_t copy_kind, source, target, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream;
  std::uint32_t from_device, from_context, to_device, to_context;
  std::uint32_t correlation;
  void* reserved0;
  std::uint64_t graph_node;
  std::uint32_t graph, channel, channel_type;
};

struct Memset {  // CUpti_ActivityMemset4
  std::uint32_t kind, value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
  std::uint16_t flags, memory_kind;
  std::uint32_t pad;
  void* reserved0;
  std::uint64_t graph_node;
  std::uint32_t graph, channel, channel_type;
  std::uint8_t device_launched, pad2[3];
};

struct Api {
  std::uint32_t kind, callback_id;
  std::uint64_t start, end;
  std::uint32_t process, thread, correlation, result;
};

struct ExternalCorrelation {
  std::uint32_t kind, external_kind;
  std::uint64_t external_id;
  std::uint32_t correlation, reserved;
};

struct Synchronization {  // CUpti_ActivitySynchronization2
  std::uint32_t kind, type;
  std::uint64_t start, end;
  std::uint32_t correlation, context, stream, event;
  std::uint64_t event_sync;
  std::uint32_t result, pad;
};

struct CudaEvent {                                                             // CUpti_ActivityCudaEvent2
  std::uint32_t kind, correlation, context, stream, event, pad, device, pad2;  // to `pad`: CUpti_ActivityCudaEvent
  void* reserved0;
  std::uint64_t timestamp, event_sync;
};

struct Overhead {  // CUpti_ActivityOverhead3
  std::uint32_t kind, overhead_kind, object_kind;
  std::uint32_t object[3];
  std::uint64_t start, end;
  std::uint32_t correlation, reserved0;
  void* data;
};

struct GraphTrace {  // CUpti_ActivityGraphTrace2
  std::uint32_t kind, correlation;
  std::uint64_t start, end;
  std::uint32_t device, graph, context, stream;
  void* reserved;
  std::uint32_t end_device, end_context;
};

struct Device {  // CUpti_ActivityDevice5
  std::uint32_t kind, flags;
  std::uint64_t bandwidth, memory_bytes;
  std::uint32_t constant_bytes, l2_bytes, warp, clock_khz, copy_engines, multiprocessors, ipc, warps_per_sm;
  std::uint32_t blocks_per_sm, shared_per_sm, registers_per_sm, registers_per_block, shared_per_block;
  std::uint32_t threads_per_block, block_dim[3], grid_dim[3], major, minor, id, ecc;
  std::uint8_t uuid[16];
  const char* name;
  std::uint8_t visible, mig, reserved[6];
  std::uint32_t gpu_instance, compute_instance;
  std::uint8_t mig_uuid[16];
  std::uint32_t numa_node, numa;
};

struct Context {  // CUpti_ActivityContext3
  std::uint32_t kind, context, device;
  std::uint16_t api, null_stream;
  std::uint32_t parent;
  std::uint8_t green, padding;
  std::uint16_t multiprocessors;
  std::uint32_t cig_mode, padding2;
};

struct Stream {
  std::uint32_t kind, context, stream, priority, flag, correlation;
};

struct Memory {  // CUpti_ActivityMemory4
  std::uint32_t kind, operation, memory_kind, correlation;
  std::uint64_t address, bytes, timestamp, pc;
  std::uint32_t process, device, context, stream;
  const char* name;
  std::uint32_t is_async, pad1;
  std::uint32_t pool_type, pad2;
  std::uint64_t pool_address, pool_threshold, pool_size, pool_used;
  const char* source;
};

/// Sizes in bytes of records that differ between releases.
struct Sizes {
  std::size_t kernel, memcpy, peer, memset, synchronization, overhead, graph_trace, device, context, memory, cuda_event;
};
inline constexpr Sizes kSizes118{200, 88, 96, 88, 40, 40, 48, 176, 16, 120, 24};
inline constexpr Sizes kSizes124{208, 88, 96, 88, 40, 40, 48, 184, 24, 120, 24};
inline constexpr Sizes kSizes130{216, 96, 96, 88, 56, 56, 56, 184, 32, 128, 56};
inline constexpr Sizes kSizes132{224, 96, 96, 88, 56, 56, 56, 192, 40, 128, 56};  // Kernel11, Device6, Context4
inline constexpr Sizes kSizes133{232, 96, 96, 88, 56, 56, 56, 192, 40, 128, 56};  // Kernel12

/// Bytes by which cuptiActivityGetNextRecord advances; 0 = unknown kind.
inline std::size_t record_bytes(std::uint32_t kind, const Sizes& sizes) {
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return sizes.kernel;
    case kMemcpy:
      return sizes.memcpy;
    case kMemcpyPeer:
      return sizes.peer;
    case kMemset:
      return sizes.memset;
    case kDriver:
    case kRuntime:
      return sizeof(Api);
    case kExternalCorrelation:
      return sizeof(ExternalCorrelation);
    case kSynchronization:
      return sizes.synchronization;
    case kCudaEvent:
      return sizes.cuda_event;
    case kOverhead:
      return sizes.overhead;
    case kGraphTrace:
      return sizes.graph_trace;
    case kDevice:
      return sizes.device;
    case kContext:
      return sizes.context;
    case kStream:
      return sizeof(Stream);
    case kMemory2:
      return sizes.memory;
    default:
      return 0;
  }
}

}  // namespace fake::cupti
