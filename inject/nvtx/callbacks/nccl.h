// Records NCCL's own NVTX ranges (domain "NCCL", since 2.16). They show API calls that bypass our hooks: static
// linking, dlsym, ctypes. A range inside a hooked call is dropped as a duplicate.
#pragma once

#include "inject/nvtx/handles.h"
#include "profshim/recorder.h"

namespace profshim::nvtx {

/// If the spec does not want NCCL, NCCL's ranges are ordinary ranges.
inline bool is_nccl_call(nvtxDomainHandle_t domain) {
  if (domain == nullptr || !domain_of(domain).is_nccl) return false;
  const std::uint32_t mode = recorder::mode();
  return mode == 0 || (mode & recorder::kNccl) != 0;
}

/// Both return NVTX_NO_PUSH_POP_TRACKING, as NVTX does without a tool.
int nccl_push(Domain& domain, const nvtxEventAttributes_t* attributes);
int nccl_pop(Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count);

}  // namespace profshim::nvtx
