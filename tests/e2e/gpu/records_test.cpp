#include "fakes/cupti/records.h"

#include <gtest/gtest.h>

#if __has_include(<cupti.h>)
#include <cupti.h>

namespace fake::cupti {

#define SAME_SIZE(ours, theirs) EXPECT_EQ(sizeof(ours), sizeof(theirs)) << #theirs
#define SAME_PLACE(ours, field, theirs, their_field) \
  EXPECT_EQ(offsetof(ours, field), offsetof(theirs, their_field)) << #theirs << "." << #their_field

TEST(FakeCuptiRecords, HaveTheLayoutOfTheVendorsHeaders) {
  SAME_SIZE(Kernel, CUpti_ActivityKernel10);
  SAME_PLACE(Kernel, registers_per_thread, CUpti_ActivityKernel10, registersPerThread);
  SAME_PLACE(Kernel, start, CUpti_ActivityKernel10, start);
  SAME_PLACE(Kernel, stream, CUpti_ActivityKernel10, streamId);
  SAME_PLACE(Kernel, grid, CUpti_ActivityKernel10, gridX);
  SAME_PLACE(Kernel, block, CUpti_ActivityKernel10, blockX);
  SAME_PLACE(Kernel, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
  SAME_PLACE(Kernel, correlation, CUpti_ActivityKernel10, correlationId);
  SAME_PLACE(Kernel, name, CUpti_ActivityKernel10, name);
  SAME_PLACE(Kernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
  SAME_PLACE(Kernel, graph, CUpti_ActivityKernel10, graphId);
  SAME_PLACE(Kernel, channel, CUpti_ActivityKernel10, channelID);
  SAME_PLACE(Kernel, channel_type, CUpti_ActivityKernel10, channelType);
  SAME_PLACE(Kernel, cluster, CUpti_ActivityKernel10, clusterX);
  SAME_PLACE(Kernel, device_launched, CUpti_ActivityKernel10, isDeviceLaunched);
  SAME_SIZE(Memcpy, CUpti_ActivityMemcpy6);
  SAME_PLACE(Memcpy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
  SAME_PLACE(Memcpy, bytes, CUpti_ActivityMemcpy6, bytes);
  SAME_PLACE(Memcpy, correlation, CUpti_ActivityMemcpy6, correlationId);
  SAME_PLACE(Memcpy, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
  SAME_PLACE(Memcpy, copy_count, CUpti_ActivityMemcpy6, copyCount);
  SAME_SIZE(MemcpyPeer, CUpti_ActivityMemcpyPtoP4);
  SAME_PLACE(MemcpyPeer, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
  SAME_PLACE(MemcpyPeer, from_context, CUpti_ActivityMemcpyPtoP4, srcContextId);
  SAME_PLACE(MemcpyPeer, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
  SAME_PLACE(MemcpyPeer, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
  SAME_SIZE(Memset, CUpti_ActivityMemset4);
  SAME_PLACE(Memset, correlation, CUpti_ActivityMemset4, correlationId);
  SAME_PLACE(Memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
  SAME_PLACE(Memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
  SAME_SIZE(Api, CUpti_ActivityAPI);
  SAME_PLACE(Api, thread, CUpti_ActivityAPI, threadId);
  SAME_PLACE(Api, correlation, CUpti_ActivityAPI, correlationId);
  SAME_SIZE(ExternalCorrelation, CUpti_ActivityExternalCorrelation);
  SAME_PLACE(ExternalCorrelation, external_id, CUpti_ActivityExternalCorrelation, externalId);
  SAME_SIZE(Synchronization, CUpti_ActivitySynchronization2);
  SAME_PLACE(Synchronization, event, CUpti_ActivitySynchronization2, cudaEventId);
  SAME_SIZE(CudaEvent, CUpti_ActivityCudaEvent2);
  SAME_PLACE(CudaEvent, event, CUpti_ActivityCudaEvent2, eventId);
  SAME_PLACE(CudaEvent, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
  SAME_SIZE(Overhead, CUpti_ActivityOverhead3);
  SAME_PLACE(Overhead, object, CUpti_ActivityOverhead3, objectId);
  SAME_PLACE(Overhead, start, CUpti_ActivityOverhead3, start);
  SAME_SIZE(GraphTrace, CUpti_ActivityGraphTrace2);
  SAME_PLACE(GraphTrace, graph, CUpti_ActivityGraphTrace2, graphId);
  SAME_SIZE(Device, CUpti_ActivityDevice5);
  SAME_PLACE(Device, multiprocessors, CUpti_ActivityDevice5, numMultiprocessors);
  SAME_PLACE(Device, major, CUpti_ActivityDevice5, computeCapabilityMajor);
  SAME_PLACE(Device, name, CUpti_ActivityDevice5, name);
  SAME_SIZE(Context, CUpti_ActivityContext3);
  SAME_SIZE(Stream, CUpti_ActivityStream);
  SAME_SIZE(Memory, CUpti_ActivityMemory4);
  SAME_PLACE(Memory, address, CUpti_ActivityMemory4, address);
}

}  // namespace fake::cupti
#endif
