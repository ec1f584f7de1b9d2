#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "fakes/libcuda/device.h"
#include "fakes/nccl/exports.h"

using namespace fake::nccl;

EXPORT(GetVersion, int* version) {
  *version = library_version();
  return kSuccess;
}
EXPORT(GetUniqueId, UniqueId* id) {
  std::random_device random;
  std::memset(id, 0, sizeof *id);
  for (int i = 0; i < 12; ++i) id->bytes[i] = static_cast<char>(random());
  return kSuccess;
}
EXPORT(CommInitRank, Communicator** out, int ranks, UniqueId id, int rank) {
  const Range range("ncclCommInitRank", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, id, rank, nullptr);
}
EXPORT(CommInitRankConfig, Communicator** out, int ranks, UniqueId id, int rank, Config* config) {
  const Range range("ncclCommInitRankConfig", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, id, rank, config);
}
EXPORT(CommInitRankScalable, Communicator** out, int ranks, int rank, int, UniqueId* ids, Config* config) {
  const Range range("ncclCommInitRankScalable", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, ids[0], rank, config);
}
EXPORT(CommInitAll, Communicator** out, int count, const int* devices) {
  const Range range("ncclCommInitAll", nullptr, 0, kRanks, count);
  UniqueId id;
  pncclGetUniqueId(&id);
  for (int i = 0; i < count; ++i)
    if (const int result = create(out + i, name_of(id), count, i, devices ? devices[i] : i, nullptr, false);
        result != kSuccess)
      return result;
  return kSuccess;
}
EXPORT(CommFinalize, Communicator* communicator) {
  const Range range("ncclCommFinalize");
  return communicator ? kSuccess : kInvalidArgument;
}
// The shared memory stays mapped: gates of running kernels read it.
EXPORT(CommDestroy, Communicator* communicator) {
  const Range range("ncclCommDestroy");
  if (communicator) wait_for([communicator] { return communicator->launching == 0; });
  delete communicator;
  return kSuccess;
}
EXPORT(CommAbort, Communicator* communicator) {
  const Range range("ncclCommAbort");
  if (communicator) communicator->shared->aborted = 1;
  delete communicator;
  return kSuccess;
}
EXPORT(CommRevoke, Communicator* communicator, int) {
  const Range range("ncclCommRevoke");
  if (!communicator) return kInvalidArgument;
  communicator->shared->aborted = 1;
  return kSuccess;
}
EXPORT(CommSplit, Communicator* communicator, int color, int key, Communicator** out, Config* config) {
  const Range range("ncclCommSplit", communicator, 0, "Color", color);
  return split(communicator, color, key, out, config);
}
EXPORT(CommShrink, Communicator* communicator, int* excluded, int count, Communicator** out, Config* config, int) {
  const Range range("ncclCommShrink", communicator, 0, "No. of excluded ranks", count);
  if (!communicator || !out) return kInvalidArgument;
  // Excluded ranks do not call ncclCommShrink.
  std::vector<int> members;
  for (int i = 0; i < communicator->ranks; ++i)
    if (std::find(excluded, excluded + count, i) == excluded + count) members.push_back(i);
  const auto me = std::find(members.begin(), members.end(), communicator->rank);
  if (me == members.end()) return kInvalidArgument;
  return create(out, communicator->name + "_s" + std::to_string(communicator->splits++),
                static_cast<int>(members.size()), static_cast<int>(me - members.begin()), communicator->device, config,
                true);
}
EXPORT(CommGetUniqueId, Communicator* communicator, UniqueId* id) {
  if (!communicator || !id) return kInvalidArgument;
  *id = growth_id(*communicator);
  return kSuccess;
}
// Existing ranks keep their number and pass -1 as `rank`. Among them, only the caller of ncclCommGetUniqueId passes the
// id.
EXPORT(CommGrow, Communicator* communicator, int ranks, const UniqueId* id, int rank, Communicator** out,
       Config* config) {
  const Range range("ncclCommGrow", communicator, 0, kRanks, ranks);
  if (!communicator) return id && rank >= 0 ? create_by_id(out, ranks, *id, rank, config) : kInvalidArgument;
  if (rank != -1 || ranks <= communicator->ranks) return kInvalidArgument;
  const UniqueId own = growth_id(*communicator);
  if (id && std::memcmp(id->bytes, own.bytes, sizeof own.bytes) != 0) return kInvalidArgument;
  ++communicator->children;
  return create_by_id(out, ranks, own, communicator->rank, config);
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
  return result == kSuccess ? "no error" : "an error of the fake NCCL";
}
extern "C" __attribute__((visibility("default"))) const char* pncclGetErrorString(int result) {
  return ncclGetErrorString(result);
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(Communicator*) { return ""; }
extern "C" __attribute__((visibility("default"))) const char* pncclGetLastError(Communicator*) { return ""; }
extern "C" __attribute__((visibility("default"))) void ncclResetDebugInit() {}
extern "C" __attribute__((visibility("default"))) void pncclResetDebugInit() {}
EXPORT(CommGetAsyncError, Communicator* communicator, int* error) {
  *error = communicator && communicator->launching > 0 ? kInProgress : kSuccess;
  return kSuccess;
}
EXPORT(CommCount, const Communicator* communicator, int* count) {
  if (!communicator) return kInvalidArgument;
  *count = communicator->ranks;
  return kSuccess;
}
EXPORT(CommCuDevice, const Communicator* communicator, int* device) {
  if (!communicator) return kInvalidArgument;
  *device = communicator->device;
  return kSuccess;
}
EXPORT(CommUserRank, const Communicator* communicator, int* rank) {
  if (!communicator) return kInvalidArgument;
  *rank = communicator->rank;
  return kSuccess;
}
EXPORT(MemAlloc, void** address, std::size_t bytes) {
  if (!has_driver()) return kUnhandledCudaError;
  *address = fake::device_or_null()->allocate(bytes, fake::MemoryKind::kDevice);
  return *address ? kSuccess : kUnhandledCudaError;
}
EXPORT(MemFree, void* address) {
  return has_driver() && fake::device_or_null()->release(address) == 0 ? kSuccess : kUnhandledCudaError;
}
EXPORT(CommRegister, const Communicator* communicator, void* buffer, std::size_t, void** handle) {
  *handle = buffer;
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(CommDeregister, const Communicator* communicator, void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(CommWindowRegister, Communicator* communicator, void* buffer, std::size_t, void** window, int) {
  *window = buffer;
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(CommWindowDeregister, Communicator* communicator, void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(DevCommCreate, Communicator* communicator, const void*, void*) {
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(DevCommDestroy, Communicator* communicator, const void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(RedOpCreatePreMulSum, int* op, void*, int, int, Communicator* communicator) {
  static std::atomic<int> next{5};
  if (!communicator) return kInvalidArgument;
  *op = next++;
  return kSuccess;
}
EXPORT(RedOpDestroy, int, Communicator* communicator) { return communicator ? kSuccess : kInvalidArgument; }
