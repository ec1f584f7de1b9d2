// libcudart of the fakes: the part of the runtime API that programs built by nvcc -cudart shared use. Built with the
// SONAMEs and version nodes of CUDA 11, 12 and 13 (FAKE_CUDART_VERSION: 11080, 12040, 13000). Pointers to device memory
// are ordinary memory, so that copies copy; kernels do nothing but take their time (see fake_device.h).
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "fakes/fake_device.h"

using fake::ApiCall;
using fake::CopyKind;
using fake::Dim;
using fake::MemoryKind;
using fake::Work;
using fake::WorkKind;

namespace {

constexpr int kInsufficientDriver = 35, kInvalidDeviceFunction = 98;
constexpr std::size_t kPropertiesBytes =
    FAKE_CUDART_VERSION >= 13000 ? 1008 : (FAKE_CUDART_VERSION >= 12000 ? 1032 : 728);

struct Kernel {
  std::string name;
};

struct Registry {
  std::mutex lock;
  std::map<const void*, Kernel> kernels;  // by the address of the host's stub
  std::map<const void*, std::size_t> variables;
};
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

thread_local int last_error;
thread_local struct {
  Dim grid, block;
  std::size_t shared_bytes;
  void* stream;
} pushed_configuration;

/// The device, brought up at first use; null with the error set.
fake::Device* bring_up(int* error) {
  fake::Device* const device = fake::device_or_null();
  *error = device ? device->init() : kInsufficientDriver;
  if (*error != 0) last_error = *error;
  return *error == 0 ? device : nullptr;
}

/// The runtime makes the context in the first call that needs one.
constexpr bool needs_context(std::string_view function) {
  return !function.starts_with("cudaGetDeviceCount") && !function.starts_with("cudaDriverGetVersion") &&
         !function.starts_with("cudaRuntimeGetVersion");
}

Kernel* kernel_of(const void* stub) {
  const std::lock_guard lock(registry().lock);
  const auto found = registry().kernels.find(stub);
  return found == registry().kernels.end() ? nullptr : &found->second;
}

int submit(fake::Device& device, const Kernel& kernel, Dim grid, Dim block, std::size_t shared_bytes, void* stream) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x * block.y * block.z == 0 ||
      block.x * block.y * block.z > 1024)
    return 9;  // cudaErrorInvalidConfiguration
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 307, "cuLaunchKernel"};
  ApiCall nested(device, kNested, nullptr, kernel.name.c_str());
  Work work;
  work.name = kernel.name.c_str();
  work.grid = grid;
  work.block = block;
  work.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  return nested.returns(device.submit(stream, std::move(work)));
}

/// cudaMemcpyKind: host-host, host-device, device-host, device-device, or found out from the pointers.
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
  return result == 0 && !is_async ? device.synchronise_stream(stream) : result;
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
  return result == 0 && !is_async ? device.synchronise_stream(stream) : result;
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

/// cudaDeviceProp, whose fields have moved between CUDA 12 and 13: those that programs print.
void fill_properties(char* out, int ordinal) {
  const auto put = [&](std::size_t offset, auto value) { std::memcpy(out + offset, &value, sizeof value); };
  std::memset(out, 0, kPropertiesBytes);
  std::strcpy(out, "Fake GPU");
  out[256] = static_cast<char>(ordinal + 1);                            // uuid
  put(288, std::size_t{80} << 30);                                      // totalGlobalMem
  put(296, std::size_t{48} << 10);                                      // sharedMemPerBlock
  put(304, 65536);                                                      // regsPerBlock
  put(308, 32);                                                         // warpSize
  put(320, 1024);                                                       // maxThreadsPerBlock
  for (const int i : {0, 1, 2}) put(324 + 4u * i, i == 2 ? 64 : 1024);  // maxThreadsDim
  for (const int i : {0, 1, 2}) put(336 + 4u * i, i == 0 ? 0x7fffffff : 65535);
  put(352, std::size_t{65536});                        // totalConstMem
  put(360, 9);                                         // major; minor is 0
  put(FAKE_CUDART_VERSION >= 13000 ? 384 : 388, 132);  // multiProcessorCount
  if (FAKE_CUDART_VERSION >= 13000) {
    put(588, 1);                       // unifiedAddressing
    put(604, 2048);                    // maxThreadsPerMultiProcessor
    put(624, std::size_t{228} << 10);  // sharedMemPerMultiprocessor
    put(632, 65536);                   // regsPerMultiprocessor
    put(636, 1);                       // managedMemory
    put(672, std::size_t{227} << 10);  // sharedMemPerBlockOptin
  }
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// A function of the API: from here on `device` is there and `call` is under way. In a macro, since it returns.
#define CALL_WITH(label, callback_id, parameters, symbol)                           \
  int error = 0;                                                                    \
  fake::Device* const device_pointer = bring_up(&error);                            \
  if (!device_pointer) return error;                                                \
  fake::Device& device = *device_pointer;                                           \
  static constexpr fake::ApiInfo kInfo{fake::Domain::kRuntime, callback_id, label}; \
  if (needs_context(label)) device.make_first_context();                            \
  ApiCall call(device, kInfo, parameters, symbol)
#define CALL(label, callback_id) CALL_WITH(label, callback_id, nullptr, nullptr)

namespace {
/// What a function returns, which the next cudaGetLastError tells.
int leave(ApiCall& call, int result) {
  if (result != 0 && result != fake::kNotReady) last_error = result;
  return call.returns(result);
}
}  // namespace

// ---- what nvcc generates -------------------------------------------------------------------------------------------

EXPORT void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
EXPORT void __cudaUnregisterFatBinary(void**) {}
EXPORT char __cudaInitModule(void**) { return 1; }
EXPORT void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, void*, void*, void*, void*,
                                   int*) {
  const std::lock_guard lock(registry().lock);
  registry().kernels[stub].name = name;
}
EXPORT void __cudaRegisterVar(void**, char* variable, char*, const char*, int, std::size_t bytes, int, int) {
  const std::lock_guard lock(registry().lock);
  registry().variables[variable] = bytes;
}
EXPORT void __cudaRegisterManagedVar(void**, void** variable, char*, const char*, int, std::size_t bytes, int, int) {
  static std::map<void**, std::string> storage;
  const std::lock_guard lock(registry().lock);
  *variable = storage.try_emplace(variable, bytes, '\0').first->second.data();
}
EXPORT unsigned __cudaPushCallConfiguration(Dim grid, Dim block, std::size_t shared_bytes, void* stream) {
  pushed_configuration = {grid, block, shared_bytes, stream};
  return 0;
}
EXPORT int __cudaPopCallConfiguration(Dim* grid, Dim* block, std::size_t* shared_bytes, void** stream) {
  *grid = pushed_configuration.grid;
  *block = pushed_configuration.block;
  *shared_bytes = pushed_configuration.shared_bytes;
  *stream = pushed_configuration.stream;
  return 0;
}
EXPORT int __cudaGetKernel(void** kernel, const void* stub) {
  *kernel = kernel_of(stub);
  return *kernel ? 0 : kInvalidDeviceFunction;
}

// ---- launches ------------------------------------------------------------------------------------------------------

namespace {
struct LaunchConfig {
  Dim grid, block;
  std::size_t shared_bytes;
  void* stream;
};
}  // namespace

#define LAUNCH(function, label, callback_id)                                                                   \
  EXPORT int function(const void* stub, Dim grid, Dim block, void**, std::size_t shared_bytes, void* stream) { \
    const Kernel* kernel = kernel_of(stub);                                                                    \
    if (!kernel) return last_error = kInvalidDeviceFunction;                                                   \
    CALL_WITH(label, callback_id, &grid, kernel->name.c_str());                                                \
    return leave(call, submit(device, *kernel, grid, block, shared_bytes, stream));                            \
  }
LAUNCH(cudaLaunchKernel, "cudaLaunchKernel_v7000", 211)
LAUNCH(cudaLaunchKernel_ptsz, "cudaLaunchKernel_ptsz_v7000", 214)
LAUNCH(cudaLaunchCooperativeKernel, "cudaLaunchCooperativeKernel_v9000", 269)
#if FAKE_CUDART_VERSION >= 13000
EXPORT int __cudaLaunchKernel(void* handle, Dim grid, Dim block, void**, std::size_t shared_bytes, void* stream) {
  const auto* kernel = static_cast<const Kernel*>(handle);
  CALL_WITH("__cudaLaunchKernel_v13000", 505, &grid, kernel->name.c_str());
  return leave(call, submit(device, *kernel, grid, block, shared_bytes, stream));
}
EXPORT int __cudaLaunchKernel_ptsz(void* handle, Dim grid, Dim block, void**, std::size_t shared_bytes, void* stream) {
  const auto* kernel = static_cast<const Kernel*>(handle);
  CALL_WITH("__cudaLaunchKernel_ptsz_v13000", 506, &grid, kernel->name.c_str());
  return leave(call, submit(device, *kernel, grid, block, shared_bytes, stream));
}
#endif
EXPORT int cudaLaunchKernelExC(const LaunchConfig* config, const void* stub, void**) {
  const Kernel* kernel = kernel_of(stub);
  if (!kernel) return last_error = kInvalidDeviceFunction;
  CALL_WITH("cudaLaunchKernelExC_v11060", 430, config, kernel->name.c_str());
  return leave(call, submit(device, *kernel, config->grid, config->block, config->shared_bytes, config->stream));
}
EXPORT int cudaFuncGetAttributes(char* attributes, const void* stub) {
  CALL("cudaFuncGetAttributes_v3020", 15);
  if (!kernel_of(stub)) return leave(call, kInvalidDeviceFunction);
  std::memset(attributes, 0, 7 * sizeof(std::size_t));
  const int maximum_threads = 1024, registers = 16;
  std::memcpy(attributes + 24, &maximum_threads, sizeof(int));
  std::memcpy(attributes + 28, &registers, sizeof(int));
  return leave(call, 0);
}
EXPORT int cudaFuncSetAttribute(const void*, int, int) {
  CALL("cudaFuncSetAttribute_v9000", 273);
  return leave(call, 0);
}
EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size, std::size_t) {
  CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050", 210);
  *blocks = block_size > 0 ? std::min(32, 2048 / block_size) : 0;
  return leave(call, 0);
}
EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int block_size, std::size_t,
                                                                  unsigned) {
  CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000", 251);
  *blocks = block_size > 0 ? std::min(32, 2048 / block_size) : 0;
  return leave(call, 0);
}

// ---- memory --------------------------------------------------------------------------------------------------------

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

// ---- devices, errors -----------------------------------------------------------------------------------------------

EXPORT int cudaGetDeviceCount(int* count) {
  *count = 0;
  CALL("cudaGetDeviceCount_v3020", 3);
  *count = device.device_count();
  return leave(call, 0);
}
EXPORT int cudaGetDevice(int* ordinal) {
  CALL("cudaGetDevice_v3020", 17);
  *ordinal = device.current_device();
  return leave(call, 0);
}
EXPORT int cudaSetDevice(int ordinal) {
  CALL("cudaSetDevice_v3020", 16);
  return leave(call, device.set_device(ordinal));
}
EXPORT int cudaDeviceSynchronize() {
  CALL("cudaDeviceSynchronize_v3020", 165);
  return leave(call, device.synchronise_device());
}
EXPORT int cudaDeviceReset() {
  CALL("cudaDeviceReset_v3020", 164);
  return leave(call, device.reset());
}
EXPORT int cudaGetDeviceProperties(char* properties, int ordinal) {
  CALL("cudaGetDeviceProperties_v3020", 4);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  fill_properties(properties, ordinal);
  return leave(call, 0);
}
#if FAKE_CUDART_VERSION >= 12000 && FAKE_CUDART_VERSION < 13000
EXPORT int cudaGetDeviceProperties_v2(char* properties, int ordinal) {
  CALL("cudaGetDeviceProperties_v12000", 440);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  fill_properties(properties, ordinal);
  return leave(call, 0);
}
#endif
EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int ordinal) {
  CALL("cudaDeviceGetAttribute_v5000", 200);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  switch (attribute) {
    case 1:
      *value = 1024;
      break;  // threads per block
    case 10:
      *value = 32;
      break;  // warp size
    case 16:
      *value = 132;
      break;  // multiprocessors
    case 39:
      *value = 2048;
      break;  // threads per multiprocessor
    case 41:
      *value = 1;
      break;  // unified addressing
    case 75:
      *value = 9;
      break;  // compute capability
    case 83:
      *value = 1;
      break;  // managed memory
    case 95:
      *value = 1;
      break;  // cooperative launch
    case 115:
      *value = 1;
      break;  // memory pools
    default:
      *value = 0;
      break;
  }
  return leave(call, 0);
}
EXPORT int cudaDeviceCanAccessPeer(int* can, int, int) {
  CALL("cudaDeviceCanAccessPeer_v4000", 154);
  *can = 1;
  return leave(call, 0);
}
EXPORT int cudaDeviceEnablePeerAccess(int, unsigned) {
  CALL("cudaDeviceEnablePeerAccess_v4000", 155);
  return leave(call, 0);
}
EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  CALL("cudaDeviceGetStreamPriorityRange_v5050", 205);
  *least = 0;
  *greatest = -5;
  return leave(call, 0);
}
EXPORT int cudaDriverGetVersion(int* version) {
  fake::Device* const device = fake::device_or_null();
  *version = device ? device->driver_version() : 0;
  return 0;
}
EXPORT int cudaRuntimeGetVersion(int* version) {
  *version = FAKE_CUDART_VERSION;
  return 0;
}
EXPORT int cudaGetLastError() {
  const int error = last_error;
  last_error = 0;
  return error;
}
EXPORT int cudaPeekAtLastError() { return last_error; }
namespace {
struct ErrorText {
  int error;
  const char *name, *text;
};
const ErrorText& text_of(int error) {
  static constexpr ErrorText kTexts[] = {
      {0, "cudaSuccess", "no error"},
      {1, "cudaErrorInvalidValue", "invalid argument"},
      {2, "cudaErrorMemoryAllocation", "out of memory"},
      {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
      {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
      {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
      {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
      {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
      {600, "cudaErrorNotReady", "device not ready"},
      {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
      {-1, "cudaErrorUnknown", "unrecognized error code"},
  };
  for (const ErrorText& candidate : kTexts)
    if (candidate.error == error || candidate.error == -1) return candidate;
  __builtin_unreachable();
}
}  // namespace
EXPORT const char* cudaGetErrorString(int error) { return text_of(error).text; }
EXPORT const char* cudaGetErrorName(int error) { return text_of(error).name; }
EXPORT int cudaProfilerStart() {
  CALL("cudaProfilerStart_v4000", 171);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 308, "cuProfilerStart"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(0));
}
EXPORT int cudaProfilerStop() {
  CALL("cudaProfilerStop_v4000", 172);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 309, "cuProfilerStop"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(0));
}

// ---- streams, events -----------------------------------------------------------------------------------------------

EXPORT int cudaStreamCreate(void** stream) {
  CALL("cudaStreamCreate_v3020", 129);
  *stream = device.create_stream(0);
  return leave(call, 0);
}
EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned) {
  CALL("cudaStreamCreateWithFlags_v5000", 198);
  *stream = device.create_stream(0);
  return leave(call, 0);
}
EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned, int priority) {
  CALL("cudaStreamCreateWithPriority_v5050", 202);
  *stream = device.create_stream(priority);
  return leave(call, 0);
}
EXPORT int cudaStreamGetPriority(void* stream, int* priority) {
  CALL("cudaStreamGetPriority_v5050", 203);
  return leave(call, device.stream_priority(stream, priority));
}
EXPORT int cudaStreamDestroy(void* stream) {
  CALL("cudaStreamDestroy_v5050", 201);
  return leave(call, device.destroy_stream(stream));
}
EXPORT int cudaStreamSynchronize(void* stream) {
  CALL("cudaStreamSynchronize_v3020", 131);
  return leave(call, device.synchronise_stream(stream));
}
EXPORT int cudaStreamQuery(void* stream) {
  CALL("cudaStreamQuery_v3020", 132);
  return leave(call, device.query_stream(stream));
}
EXPORT int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  CALL("cudaStreamWaitEvent_v3020", 147);
  return leave(call, device.wait_event(stream, event));
}
EXPORT int cudaEventCreate(void** event) {
  CALL("cudaEventCreate_v3020", 133);
  *event = device.create_event();
  return leave(call, 0);
}
EXPORT int cudaEventCreateWithFlags(void** event, unsigned) {
  CALL("cudaEventCreateWithFlags_v3020", 134);
  *event = device.create_event();
  return leave(call, 0);
}
EXPORT int cudaEventRecord(void* event, void* stream) {
  CALL("cudaEventRecord_v3020", 135);
  return leave(call, device.record_event(event, stream));
}
EXPORT int cudaEventSynchronize(void* event) {
  CALL("cudaEventSynchronize_v3020", 137);
  return leave(call, device.synchronise_event(event));
}
EXPORT int cudaEventQuery(void* event) {
  CALL("cudaEventQuery_v3020", 138);
  return leave(call, device.query_event(event));
}
EXPORT int cudaEventDestroy(void* event) {
  CALL("cudaEventDestroy_v3020", 136);
  return leave(call, device.destroy_event(event));
}
EXPORT int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  CALL("cudaEventElapsedTime_v3020", 139);
  return leave(call, device.elapsed(from, to, milliseconds));
}

// ---- graphs --------------------------------------------------------------------------------------------------------

EXPORT int cudaStreamBeginCapture(void* stream, int) {
  CALL("cudaStreamBeginCapture_v10000", 315);
  return leave(call, device.begin_capture(stream));
}
EXPORT int cudaStreamEndCapture(void* stream, void** graph) {
  CALL("cudaStreamEndCapture_v10000", 319);
  return leave(call, device.end_capture(stream, graph));
}
EXPORT int cudaStreamIsCapturing(void* stream, int* status) {
  CALL("cudaStreamIsCapturing_v10000", 317);
  std::uint64_t id = 0;
  const int result = device.capture_id(stream, &id);
  *status = id != 0 ? 1 : 0;
  return leave(call, result);
}
EXPORT int cudaGraphCreate(void** graph, unsigned) {
  CALL("cudaGraphCreate_v10000", 286);
  *graph = device.create_graph();
  return leave(call, 0);
}
EXPORT int cudaGraphGetNodes(void* graph, void**, std::size_t* count) {
  CALL("cudaGraphGetNodes_v10000", 322);
  return leave(call, device.graph_nodes(graph, count));
}
// CUDA 11 has three more arguments, for a log that there is nothing to say in.
EXPORT int cudaGraphInstantiate(void** executable, void* graph) {
  CALL(FAKE_CUDART_VERSION >= 12000 ? "cudaGraphInstantiate_v12000" : "cudaGraphInstantiate_v10000",
       FAKE_CUDART_VERSION >= 12000 ? 443 : 310);
  return leave(call, device.instantiate(graph, executable));
}
EXPORT int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  CALL("cudaGraphInstantiateWithFlags_v11040", 418);
  return leave(call, device.instantiate(graph, executable));
}
EXPORT int cudaGraphLaunch(void* executable, void* stream) {
  CALL("cudaGraphLaunch_v10000", 311);
  static constexpr fake::ApiInfo kNested{fake::Domain::kDriver, 514, "cuGraphLaunch"};
  ApiCall nested(device, kNested);
  return leave(call, nested.returns(device.launch_graph(executable, stream)));
}
EXPORT int cudaGraphExecDestroy(void* executable) {
  CALL("cudaGraphExecDestroy_v10000", 313);
  return leave(call, device.destroy_executable(executable));
}
EXPORT int cudaGraphDestroy(void* graph) {
  CALL("cudaGraphDestroy_v10000", 314);
  return leave(call, device.destroy_graph(graph));
}
