// Values of "cat".
#pragma once

#include <string_view>

#include "profshim/trace/events.h"

namespace profshim::schema {

/// Values of "cat".
namespace category {
inline constexpr std::string_view kCpuOp = "cpu_op";
inline constexpr std::string_view kUserAnnotation = "user_annotation";
inline constexpr std::string_view kPythonFunction = "python_function";
inline constexpr std::string_view kTrace = "Trace";
inline constexpr std::string_view kCpuInstantEvent = "cpu_instant_event";
inline constexpr std::string_view kKernel = "kernel";
inline constexpr std::string_view kGpuMemcpy = "gpu_memcpy";
inline constexpr std::string_view kGpuMemset = "gpu_memset";
inline constexpr std::string_view kGpuUserAnnotation = "gpu_user_annotation";
inline constexpr std::string_view kCudaRuntime = "cuda_runtime";
inline constexpr std::string_view kCudaDriver = "cuda_driver";
inline constexpr std::string_view kCudaSync = "cuda_sync";
inline constexpr std::string_view kCudaEvent = "cuda_event";
inline constexpr std::string_view kOverhead = "overhead";
inline constexpr std::string_view kAc2g = "ac2g";
inline constexpr std::string_view kFwdBwd = "fwdbwd";
inline constexpr std::string_view kPhase = "phase";
inline constexpr std::string_view kRankFlow = "rank_flow";
// Read from Kineto's traces.
inline constexpr std::string_view kGlowRuntime = "glow_runtime";
inline constexpr std::string_view kHpuOp = "hpu_op";
inline constexpr std::string_view kCollectiveComm = "collective_comm";
inline constexpr std::string_view kHardwareCounters = "hardware_counters";
inline constexpr std::string_view kCudaProfilerRange = "cuda_profiler_range";
inline constexpr std::string_view kMtiaStart = "mtia_";
inline constexpr std::string_view kXpuStart = "xpu_";
inline constexpr std::string_view kPrivateUseStart = "privateuse1_";
inline constexpr std::string_view kGpuStart = "gpu_";
inline constexpr std::string_view kRuntimeEnd = "_runtime";
inline constexpr std::string_view kDriverEnd = "_driver";
// Traces of 2021.
inline constexpr std::string_view kOperator2021 = "Operator";
inline constexpr std::string_view kRuntime2021 = "Runtime";
inline constexpr std::string_view kKernel2021 = "Kernel";
inline constexpr std::string_view kMemcpy2021 = "Memcpy";
inline constexpr std::string_view kMemset2021 = "Memset";
}  // namespace category

constexpr std::string_view category_name(Category of) {
  switch (of) {
    case Category::kNone:
      return "";
    case Category::kCpuOp:
      return category::kCpuOp;
    case Category::kUserAnnotation:
      return category::kUserAnnotation;
    case Category::kPythonFunction:
      return category::kPythonFunction;
    case Category::kTrace:
      return category::kTrace;
    case Category::kCpuInstantEvent:
      return category::kCpuInstantEvent;
    case Category::kKernel:
      return category::kKernel;
    case Category::kGpuMemcpy:
      return category::kGpuMemcpy;
    case Category::kGpuMemset:
      return category::kGpuMemset;
    case Category::kGpuUserAnnotation:
      return category::kGpuUserAnnotation;
    case Category::kCudaRuntime:
      return category::kCudaRuntime;
    case Category::kCudaDriver:
      return category::kCudaDriver;
    case Category::kCudaSync:
      return category::kCudaSync;
    case Category::kOverhead:
      return category::kOverhead;
    case Category::kAc2g:
      return category::kAc2g;
    case Category::kFwdBwd:
      return category::kFwdBwd;
    case Category::kPhase:
      return category::kPhase;
    case Category::kRankFlow:
      return category::kRankFlow;
  }
  return "";
}

}  // namespace profshim::schema
