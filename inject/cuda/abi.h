// CUDA's types, so that the build needs no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::cuda {

// Argument types in hooks/cuda.def.
using Ptr = void*;
using Handle = void*;
using Size = std::size_t;
using Int = int;
using Unsigned = unsigned;
struct Dim3 {
  unsigned x, y, z;
};

/// Beginning of cudaLaunchConfig_t.
struct RuntimeLaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  Handle stream;
};
/// Beginning of CUlaunchConfig.
struct DriverLaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  Handle stream;
};

/// cudaErrorSharedObjectSymbolNotFound and CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND.
inline constexpr int kSymbolNotFound = 302;

/// cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY.
inline constexpr int kOutOfMemory = 2;

/// cudaMemcpyKind.
inline constexpr int kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefaultCopy = 4;

}  // namespace profshim::cuda
