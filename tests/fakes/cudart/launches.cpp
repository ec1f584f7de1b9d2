#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fakes/cudart/driver.h"
#include "fakes/cudart/runtime.h"

using namespace fake::cudart;
using fake::ApiCall;
using fake::Dim;
using fake::Work;

namespace {

thread_local struct {
  Dim grid, block;
  std::size_t shared_bytes;
  void* stream;
} pushed_configuration;

int submit(const Kernel& kernel, Dim grid, Dim block, std::size_t shared_bytes, void* stream) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x * block.y * block.z == 0 ||
      block.x * block.y * block.z > 1024)
    return 9;  // cudaErrorInvalidConfiguration
  return driver().launch(driver().function_named(kernel.name), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared_bytes), stream, nullptr, nullptr);
}

}  // namespace

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
    return leave(call, submit(*kernel, grid, block, shared_bytes, stream));                                    \
  }
LAUNCH(cudaLaunchKernel, "cudaLaunchKernel_v7000", 211)
LAUNCH(cudaLaunchKernel_ptsz, "cudaLaunchKernel_ptsz_v7000", 214)
LAUNCH(cudaLaunchCooperativeKernel, "cudaLaunchCooperativeKernel_v9000", 269)
#if FAKE_CUDART_VERSION >= 13000
EXPORT int __cudaLaunchKernel(void* handle, Dim grid, Dim block, void**, std::size_t shared_bytes, void* stream) {
  const auto* kernel = static_cast<const Kernel*>(handle);
  CALL_WITH("__cudaLaunchKernel_v13000", 505, &grid, kernel->name.c_str());
  return leave(call, submit(*kernel, grid, block, shared_bytes, stream));
}
EXPORT int __cudaLaunchKernel_ptsz(void* handle, Dim grid, Dim block, void**, std::size_t shared_bytes, void* stream) {
  const auto* kernel = static_cast<const Kernel*>(handle);
  CALL_WITH("__cudaLaunchKernel_ptsz_v13000", 506, &grid, kernel->name.c_str());
  return leave(call, submit(*kernel, grid, block, shared_bytes, stream));
}
#endif
EXPORT int cudaLaunchKernelExC(const LaunchConfig* config, const void* stub, void**) {
  const Kernel* kernel = kernel_of(stub);
  if (!kernel) return last_error = kInvalidDeviceFunction;
  CALL_WITH("cudaLaunchKernelExC_v11060", 430, config, kernel->name.c_str());
  return leave(call, submit(*kernel, config->grid, config->block, config->shared_bytes, config->stream));
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
