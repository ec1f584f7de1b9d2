#include "fakes/nccl/exports.h"

using namespace fake::nccl;

EXPORT(AllReduce, const void*, void*, std::size_t count, int type, int op, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAllReduce", communicator, bytes, kOp, op);
  return enqueue(communicator, "AllReduce", kernel_with_op("AllReduce", op, type), bytes, type, 0, stream, true);
}
EXPORT(Reduce, const void*, void*, std::size_t count, int type, int op, int root, Communicator* communicator,
       void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclReduce", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Reduce", kernel_with_op("Reduce", op, type), bytes, type, root, stream, true);
}
EXPORT(ReduceScatter, const void*, void*, std::size_t count, int type, int op, Communicator* communicator,
       void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclReduceScatter", communicator, bytes, kOp, op);
  return enqueue(communicator, "ReduceScatter", kernel_with_op("ReduceScatter", op, type), bytes, type, 0, stream,
                 true);
}
EXPORT(Broadcast, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclBroadcast", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Broadcast", "ncclDevKernel_Broadcast_RING_LL", bytes, type, root, stream, true);
}
// Calls the exported ncclBroadcast, as NCCL does: an interposing tool sees a second call.
EXPORT(Bcast, void* buffer, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
EXPORT(AllGather, const void*, void*, std::size_t count, int type, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAllGather", communicator, bytes, "", 0);
  return enqueue(communicator, "AllGather", "ncclDevKernel_AllGather_RING_LL", bytes, type, 0, stream, true);
}
EXPORT(AlltoAll, const void*, void*, std::size_t count, int type, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAlltoAll", communicator, bytes, "", 0);
  return enqueue(communicator, "AlltoAll", "ncclDevKernel_SendRecv", bytes, type, 0, stream, true);
}
EXPORT(Gather, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclGather", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Gather", "ncclDevKernel_SendRecv", bytes, type, root, stream, true);
}
EXPORT(Scatter, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclScatter", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Scatter", "ncclDevKernel_SendRecv", bytes, type, root, stream, true);
}
EXPORT(Send, const void*, std::size_t count, int type, int peer, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclSend", communicator, bytes, kPeer, peer);
  return enqueue(communicator, "Send", "ncclDevKernel_SendRecv", bytes, type, peer, stream, false);
}
EXPORT(Recv, void*, std::size_t count, int type, int peer, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclRecv", communicator, bytes, kPeer, peer);
  return enqueue(communicator, "Recv", "ncclDevKernel_SendRecv", bytes, type, peer, stream, false);
}
EXPORT(GroupStart) {
  const Range range("ncclGroupStart");
  ++group_depth;
  return kSuccess;
}
EXPORT(GroupEnd) {
  const Range range("ncclGroupEnd");
  return end_group();
}
EXPORT(GroupSimulateEnd, SimulationInfo* info) {
  const Range range("ncclGroupSimulateEnd");
  if (group_depth == 0) return kInvalidUsage;
  if (--group_depth == 0) clear_group();
  if (info) info->estimated_time = 1.0f;
  return kSuccess;
}
