// The parts of the ABI of the CUDA runtime and driver that the hooks use, so that the library builds without a toolkit
// and works with every version. tests/unit/inject/cuda/abi_test.cpp compares them with the vendor's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::cuda {

// Types of arguments in hooks/cuda.def.
using Ptr = void*;
using Handle = void*;  // streams, events, functions and graphs are pointers
using Size = std::size_t;
using Int = int;  // and enums
using Unsigned = unsigned;
/// dim3, passed by value.
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

/// cudaErrorSharedObjectSymbolNotFound of the runtime and CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND of the driver. A
/// hook returns this if the real function is not found.
inline constexpr int kSymbolNotFound = 302;

/// cudaMemcpyKind.
inline constexpr int kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefaultCopy = 4;

}  // namespace profshim::cuda
