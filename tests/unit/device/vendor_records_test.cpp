#include <gtest/gtest.h>

#include "device/cupti/records.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cupti.h>

namespace profshim::device::cupti {
namespace {

#define SAME(OURS, FIELD, THEIRS, THEIR_FIELD)                            \
  static_assert(offsetof(OURS, FIELD) == offsetof(THEIRS, THEIR_FIELD) && \
                sizeof(OURS::FIELD) >= sizeof(THEIRS::THEIR_FIELD))

SAME(ApiRecord, callback_id, CUpti_ActivityAPI, cbid);
SAME(ApiRecord, start, CUpti_ActivityAPI, start);
SAME(ApiRecord, thread, CUpti_ActivityAPI, threadId);
SAME(ApiRecord, correlation, CUpti_ActivityAPI, correlationId);
SAME(ApiRecord, result, CUpti_ActivityAPI, returnValue);
// CUpti_ActivityKernel8 is the oldest version that we read. Later versions only append fields.
SAME(KernelRecord, registers_per_thread, CUpti_ActivityKernel8, registersPerThread);
SAME(KernelRecord, start, CUpti_ActivityKernel8, start);
SAME(KernelRecord, device, CUpti_ActivityKernel8, deviceId);
SAME(KernelRecord, stream, CUpti_ActivityKernel8, streamId);
SAME(KernelRecord, grid, CUpti_ActivityKernel8, gridX);
SAME(KernelRecord, block, CUpti_ActivityKernel8, blockX);
SAME(KernelRecord, static_shared, CUpti_ActivityKernel8, staticSharedMemory);
SAME(KernelRecord, correlation, CUpti_ActivityKernel8, correlationId);
SAME(KernelRecord, name, CUpti_ActivityKernel8, name);
SAME(KernelRecord, graph_node, CUpti_ActivityKernel8, graphNodeId);
SAME(KernelRecord, graph, CUpti_ActivityKernel8, graphId);
SAME(KernelRecord, channel, CUpti_ActivityKernel8, channelID);
SAME(KernelRecord, cluster, CUpti_ActivityKernel8, clusterX);
SAME(MemcpyRecord, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(MemcpyRecord, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(MemcpyRecord, device, CUpti_ActivityMemcpy5, deviceId);
SAME(MemcpyRecord, correlation, CUpti_ActivityMemcpy5, correlationId);
SAME(MemcpyRecord, graph_node, CUpti_ActivityMemcpy5, graphNodeId);
SAME(MemcpyRecord, graph, CUpti_ActivityMemcpy5, graphId);
SAME(PeerCopyRecord, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(PeerCopyRecord, destination_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME(PeerCopyRecord, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(PeerCopyRecord, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(PeerCopyRecord, graph, CUpti_ActivityMemcpyPtoP4, graphId);
SAME(MemsetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME(MemsetRecord, correlation, CUpti_ActivityMemset4, correlationId);
SAME(MemsetRecord, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(MemsetRecord, graph, CUpti_ActivityMemset4, graphId);
SAME(GraphRecord, correlation, CUpti_ActivityGraphTrace, correlationId);
SAME(GraphRecord, start, CUpti_ActivityGraphTrace, start);
SAME(GraphRecord, graph, CUpti_ActivityGraphTrace, graphId);
SAME(GraphRecord, stream, CUpti_ActivityGraphTrace, streamId);
SAME(SynchronizationRecord, type, CUpti_ActivitySynchronization, type);
SAME(SynchronizationRecord, start, CUpti_ActivitySynchronization, start);
SAME(SynchronizationRecord, event, CUpti_ActivitySynchronization, cudaEventId);
SAME(OverheadRecord, overhead, CUpti_ActivityOverhead, overheadKind);
SAME(OverheadRecord, start, CUpti_ActivityOverhead, start);
SAME(MemoryRecord, operation, CUpti_ActivityMemory2, memoryOperationType);
SAME(MemoryRecord, address, CUpti_ActivityMemory2, address);
SAME(MemoryRecord, timestamp, CUpti_ActivityMemory2, timestamp);
SAME(MemoryRecord, stream, CUpti_ActivityMemory2, streamId);
SAME(CudaEventRecord, event, CUpti_ActivityCudaEvent, eventId);
SAME(ExternalRecord, external, CUpti_ActivityExternalCorrelation, externalId);
SAME(ExternalRecord, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME(DeviceRecord, memory_bytes, CUpti_ActivityDevice4, globalMemorySize);
SAME(DeviceRecord, multiprocessors, CUpti_ActivityDevice4, numMultiprocessors);
SAME(DeviceRecord, warps_per_multiprocessor, CUpti_ActivityDevice4, maxWarpsPerMultiprocessor);
SAME(DeviceRecord, registers_per_block, CUpti_ActivityDevice4, maxRegistersPerBlock);
SAME(DeviceRecord, shared_per_block, CUpti_ActivityDevice4, maxSharedMemoryPerBlock);
SAME(DeviceRecord, major, CUpti_ActivityDevice4, computeCapabilityMajor);
SAME(DeviceRecord, id, CUpti_ActivityDevice4, id);
SAME(DeviceRecord, name, CUpti_ActivityDevice4, name);
SAME(DeviceRecord, is_mig, CUpti_ActivityDevice4, isMigEnabled);
SAME(DeviceRecord, compute_instance, CUpti_ActivityDevice4, computeInstanceId);
SAME(DeviceRecord, mig_uuid, CUpti_ActivityDevice4, migUuid);
SAME(ContextRecord, device, CUpti_ActivityContext, deviceId);
SAME(StreamRecord, priority, CUpti_ActivityStream, priority);

TEST(VendorRecords, NumbersMatchTheVendorsHeaders) {
  EXPECT_EQ(kConcurrentKernelKind, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(kMemoryKind, CUPTI_ACTIVITY_KIND_MEMORY2);
  EXPECT_EQ(kGraphTraceKind, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  EXPECT_EQ(kPeerCopyKind, CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(kSynchronizationKind, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(kExternalCorrelationKind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(kOverheadKind, CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(kCudaEventKind, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EXPECT_EQ(kStreamKind, CUPTI_ACTIVITY_KIND_STREAM);
  EXPECT_EQ(kOurExternalKind, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
  EXPECT_EQ(kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  EXPECT_EQ(kRuntimeDomain, CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT_EQ(kDriverDomain, CUPTI_CB_DOMAIN_DRIVER_API);
}

}  // namespace
}  // namespace profshim::device::cupti
#endif
