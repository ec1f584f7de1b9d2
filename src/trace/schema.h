// The Kineto trace format as profshim writes it: what stands where, and the words of the format.
//
//   {
//   "schemaVersion": 1,                      first key; readers tell the format by it
//   "deviceProperties": [{"id": 0, …}],      must exist (torch._inductor looks it up), one element per GPU
//   "distributedInfo": {"backend": …, "rank": 3, "world_size": 8, "pg_count": 1, "pg_config": […]},
//   "host_name": "node7",
//   "cupti_version": 130001,                 and other members of TraceHeader::members
//   "profshim": {…},                         ours: steps, complete, dropped, spec, problems
//   "displayTimeUnit": "ms",                 always: older Perfetto scales ts when it says "ns"
//   "baseTimeNanoseconds": 1711964646000000000,
//   "traceEvents": [
//   …                                        one event per line
//   ],
//   "traceName": "…/rank3.11.pt.trace.json"  last key, left out when the path holds a ']'
//   }
//
// Three readers decide the details:
//  * HTA finds the rank by searching the text for  "rank":\s+\d+  — there must be a blank after the colon, and the
//  first
//    match in the file wins; its metadata parser stops at traceEvents, so all metadata stands before it.
//  * torch_tb_profiler 0.4.3 inserts text before the last ']' of the file, so none may follow the one of traceEvents.
//  * Whoever keeps times as doubles (all of them) needs times relative to baseTimeNanoseconds, or loses nanoseconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "profshim/trace.h"

namespace profshim::kineto {

/// baseTimeNanoseconds moves in steps of a quarter of a year.
inline constexpr std::int64_t kBaseStepNs = 7889238ll * 1000000000;

/// The value of "cat"; "" = the key is left out.
constexpr std::string_view category_name(Category category) {
  switch (category) {
    case Category::kNone:
      return "";
    case Category::kCpuOp:
      return "cpu_op";
    case Category::kUserAnnotation:
      return "user_annotation";
    case Category::kTrace:
      return "Trace";
    case Category::kCpuInstantEvent:
      return "cpu_instant_event";
    case Category::kKernel:
      return "kernel";
    case Category::kGpuMemcpy:
      return "gpu_memcpy";
    case Category::kGpuMemset:
      return "gpu_memset";
    case Category::kGpuUserAnnotation:
      return "gpu_user_annotation";
    case Category::kCudaRuntime:
      return "cuda_runtime";
    case Category::kCudaDriver:
      return "cuda_driver";
    case Category::kCudaSync:
      return "cuda_sync";
    case Category::kOverhead:
      return "overhead";
    case Category::kAc2g:
      return "ac2g";
    case Category::kFwdBwd:
      return "fwdbwd";
    case Category::kRankFlow:
      return "rank_flow";
  }
  return "";
}

}  // namespace profshim::kineto
