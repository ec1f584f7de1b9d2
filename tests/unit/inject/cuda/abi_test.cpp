#include "inject/cuda/abi.h"

#include <gtest/gtest.h>

#if __has_include(<cuda_runtime_api.h>) && __has_include(<cuda.h>) && __has_include(<cudaProfiler.h>)
#define HAVE_CUDA_HEADERS 1
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#endif

#include <type_traits>

namespace profshim::cuda {
namespace {

#ifdef HAVE_CUDA_HEADERS

/// Returns true if both types are passed in the same registers or stack slots.
template <class Ours, class Theirs>
constexpr bool same_slot() {
  if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) {
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  } else if constexpr (std::is_class_v<Ours> || std::is_class_v<Theirs>) {
    return std::is_same_v<Ours, Dim3> && std::is_same_v<Theirs, dim3>;
  } else {
    return sizeof(Ours) == sizeof(Theirs) && !std::is_floating_point_v<Theirs>;
  }
}

template <class... Ours, class Result, class... Theirs>
constexpr bool same_arguments(Result (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
    return false;
  } else {
    return sizeof(Result) == sizeof(int) && (same_slot<Ours, Theirs>() && ... && true);
  }
}

// `shown`, the name in traces, has the arguments of `name`: cudaMemcpy for cudaMemcpy_ptds.
#define HOOK(name, shown, describer, ...)                                                                 \
  TEST(CudaAbi, name##_HasTheArgumentsOfTheVendor) {                                                      \
    EXPECT_TRUE((same_arguments<__VA_ARGS__>(static_cast<decltype(&::shown)>(nullptr)))) << "of " #shown; \
  }
#include "profshim/hooks/cuda.def"
#undef HOOK

TEST(CudaAbi, LaunchConfigurationsHaveTheStreamAtTheVendorsOffset) {
  EXPECT_EQ(sizeof(Dim3), sizeof(dim3));
  EXPECT_EQ(offsetof(RuntimeLaunchConfig, stream), offsetof(cudaLaunchConfig_t, stream));
  EXPECT_EQ(offsetof(DriverLaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
}

TEST(CudaAbi, ConstantsEqualTheVendors) {
  EXPECT_EQ(kSymbolNotFound, static_cast<int>(cudaErrorSharedObjectSymbolNotFound));
  EXPECT_EQ(kSymbolNotFound, static_cast<int>(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND));
  EXPECT_EQ(kOutOfMemory, static_cast<int>(cudaErrorMemoryAllocation));
  EXPECT_EQ(kOutOfMemory, static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(kHostToHost, static_cast<int>(cudaMemcpyHostToHost));
  EXPECT_EQ(kDeviceToDevice, static_cast<int>(cudaMemcpyDeviceToDevice));
  EXPECT_EQ(kDefaultCopy, static_cast<int>(cudaMemcpyDefault));
}

#else

TEST(CudaAbi, NeedsTheVendorsHeaders) { GTEST_SKIP() << "no CUDA headers on this machine"; }

#endif

}  // namespace
}  // namespace profshim::cuda
