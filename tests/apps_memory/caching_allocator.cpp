// Allocates as PyTorch's allocator of CUDA memory does: after a failure, empties its cache and tries again; then
// reports the failure. Source: c10/cuda/CUDACachingAllocator.cpp.
#include <cstddef>
#include <cstdint>

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaGetLastError();
}

namespace c10 {
struct Device {
  std::int8_t type, index;
};
/// In PyTorch a function of libc10.so, which tells PyTorch's own profiler.
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(std::int64_t, std::size_t, std::size_t,
                                                                        Device) {}
}  // namespace c10

extern "C" __attribute__((visibility("default"))) int allocate(void** address, std::size_t bytes) {
  if (cudaMalloc(address, bytes) == 0) return 0;
  cudaGetLastError();
  const int result = cudaMalloc(address, bytes);
  if (result != 0) c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes), 1 << 20, 2 << 20, {1, 0});
  return result;
}
