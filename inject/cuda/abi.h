// What of the binary interface of the CUDA runtime and driver our hooks rely on, so that the library builds without a
// toolkit and serves every version; a test compares it with the vendor's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::cuda {

// The kinds of argument in hooks/cuda.def.
using Ptr = void*;
using Handle = void*;  // streams, events, functions, graphs: pointers all
using Size = std::size_t;
using Int = int;  // also enumerations
using Unsigned = unsigned;
/// dim3, by value.
struct Dim3 {
  unsigned x, y, z;
};

/// The beginning of cudaLaunchConfig_t.
struct RuntimeLaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  Handle stream;
};
/// The beginning of CUlaunchConfig.
struct DriverLaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  Handle stream;
};

/// "The symbol was not found in the shared object": cudaErrorSharedObjectSymbolNotFound of the runtime and
/// CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND of the driver. What a hook returns when there is no function behind it.
inline constexpr int kSymbolNotFound = 302;

/// cudaMemcpyKind.
inline constexpr int kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefaultCopy = 4;

}  // namespace profshim::cuda
