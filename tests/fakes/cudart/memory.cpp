#include <cstdint>
#include <cstring>
#include <utility>

#include "fakes/cudart/runtime.h"

using namespace fake::cudart;
using fake::CopyKind;
using fake::MemoryKind;
using fake::Work;
using fake::WorkKind;

namespace {

/// `kind`: a cudaMemcpyKind. For cudaMemcpyDefault, the pointers decide.
CopyKind copy_kind(fake::Device& device, const void* to, const void* from, int kind) {
  const auto on_device = [&](const void* address) {
    const MemoryKind memory = device.memory_kind(address);
    return memory == MemoryKind::kDevice || memory == MemoryKind::kManaged;
  };
  switch (kind) {
    case 0:
      return CopyKind::kOnHost;
    case 1:
      return CopyKind::kToDevice;
    case 2:
      return CopyKind::kToHost;
    case 3:
      return CopyKind::kOnDevice;
    default:
      break;
  }
  if (on_device(to)) return on_device(from) ? CopyKind::kOnDevice : CopyKind::kToDevice;
  return on_device(from) ? CopyKind::kToHost : CopyKind::kOnHost;
}

int copy(fake::Device& device, void* to, const void* from, std::size_t bytes, int kind, void* stream, bool is_async) {
  if (kind < 0 || kind > 4) return 21;  // cudaErrorInvalidMemcpyDirection
  std::memmove(to, from, bytes);
  Work work;
  work.kind = WorkKind::kCopy;
  work.copy = copy_kind(device, to, from, kind);
  work.bytes = bytes;
  work.is_async = is_async;
  work.source = device.memory_kind(from);
  work.target = device.memory_kind(to);
  const int result = device.submit(stream, std::move(work));
  return result == 0 && !is_async ? device.synchronize_stream(stream) : result;
}

int copy_peer(fake::Device& device, void* to, int to_device, const void* from, int from_device, std::size_t bytes,
              void* stream, bool is_async) {
  if (to_device < 0 || from_device < 0 || to_device >= device.device_count() || from_device >= device.device_count())
    return fake::kInvalidDevice;
  std::memmove(to, from, bytes);
  Work work;
  work.kind = to_device == from_device ? WorkKind::kCopy : WorkKind::kPeerCopy;
  work.copy = to_device == from_device ? CopyKind::kOnDevice : CopyKind::kPeer;
  work.bytes = bytes;
  work.is_async = is_async;
  work.source = device.memory_kind(from);
  work.target = device.memory_kind(to);
  work.to_device = static_cast<std::uint32_t>(to_device);
  work.from_device = static_cast<std::uint32_t>(from_device);
  const int result = device.submit(stream, std::move(work));
  return result == 0 && !is_async ? device.synchronize_stream(stream) : result;
}

int set(fake::Device& device, void* to, int value, std::size_t bytes, void* stream, bool is_async) {
  std::memset(to, value, bytes);
  Work work;
  work.kind = WorkKind::kSet;
  work.value = static_cast<std::uint32_t>(value);
  work.bytes = bytes;
  work.is_async = is_async;
  work.target = device.memory_kind(to);
  return device.submit(stream, std::move(work));
}

int allocate(fake::Device& device, void** address, std::size_t bytes, MemoryKind kind) {
  *address = device.allocate(bytes, kind);
  return *address ? fake::kOk : fake::kOutOfMemory;
}

}  // namespace

EXPORT int cudaMalloc(void** address, std::size_t bytes) {
  CALL("cudaMalloc_v3020", 20);
  return leave(call, allocate(device, address, bytes, MemoryKind::kDevice));
}
EXPORT int cudaMallocManaged(void** address, std::size_t bytes, unsigned) {
  CALL("cudaMallocManaged_v6000", 206);
  return leave(call, allocate(device, address, bytes, MemoryKind::kManaged));
}
EXPORT int cudaMallocHost(void** address, std::size_t bytes) {
  CALL("cudaMallocHost_v3020", 25);
  return leave(call, allocate(device, address, bytes, MemoryKind::kPinned));
}
EXPORT int cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  CALL("cudaHostAlloc_v3020", 27);
  return leave(call, allocate(device, address, bytes, MemoryKind::kPinned));
}
EXPORT int cudaMallocAsync(void** address, std::size_t bytes, void*) {
  CALL("cudaMallocAsync_v11020", 373);
  return leave(call, allocate(device, address, bytes, MemoryKind::kDevice));
}
EXPORT int cudaFree(void* address) {
  CALL("cudaFree_v3020", 22);
  return leave(call, device.release(address));
}
EXPORT int cudaFreeHost(void* address) {
  CALL("cudaFreeHost_v3020", 26);
  return leave(call, device.release(address));
}
EXPORT int cudaFreeAsync(void* address, void*) {
  CALL("cudaFreeAsync_v11020", 375);
  return leave(call, device.release(address));
}
EXPORT int cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  CALL("cudaMemGetInfo_v3020", 30);
  *total = std::size_t{80} << 30;
  *available = *total / 2;
  return leave(call, 0);
}
EXPORT int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  CALL("cudaMemcpy_v3020", 31);
  return leave(call, copy(device, to, from, bytes, kind, nullptr, false));
}
EXPORT int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  CALL("cudaMemcpyAsync_v3020", 41);
  return leave(call, copy(device, to, from, bytes, kind, stream, true));
}
EXPORT int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  CALL("cudaMemcpyPeer_v4000", 160);
  return leave(call, copy_peer(device, to, to_device, from, from_device, bytes, nullptr, false));
}
EXPORT int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                               void* stream) {
  CALL("cudaMemcpyPeerAsync_v4000", 161);
  return leave(call, copy_peer(device, to, to_device, from, from_device, bytes, stream, true));
}
EXPORT int cudaMemcpyToSymbol(void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind) {
  CALL("cudaMemcpyToSymbol_v3020", 39);
  return leave(call, copy(device, static_cast<char*>(symbol) + offset, from, bytes, kind, nullptr, false));
}
EXPORT int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind) {
  CALL("cudaMemcpyFromSymbol_v3020", 40);
  return leave(call, copy(device, to, static_cast<const char*>(symbol) + offset, bytes, kind, nullptr, false));
}
EXPORT int cudaMemset(void* to, int value, std::size_t bytes) {
  CALL("cudaMemset_v3020", 49);
  return leave(call, set(device, to, value, bytes, nullptr, false));
}
EXPORT int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  CALL("cudaMemsetAsync_v3020", 51);
  return leave(call, set(device, to, value, bytes, stream, true));
}
EXPORT int cudaPointerGetAttributes(char* attributes, const void* address) {
  CALL("cudaPointerGetAttributes_v4000", 151);
  std::memset(attributes, 0, FAKE_CUDART_VERSION >= 13000 ? 88 : 24);
  const MemoryKind kind = device.memory_kind(address);
  const int type = kind == MemoryKind::kPinned    ? 1
                   : kind == MemoryKind::kDevice  ? 2
                   : kind == MemoryKind::kManaged ? 3
                                                  : 0;
  std::memcpy(attributes, &type, sizeof type);
  std::memcpy(attributes + 8, &address, sizeof address);
  std::memcpy(attributes + 16, &address, sizeof address);
  return leave(call, 0);
}
