// The NVTX ranges of NCCL itself (domain "NCCL", since 2.16), one for each call of its API. They show calls that do not
// pass our hooks: those of a statically linked NCCL, or by dlsym or ctypes. A range inside one of our hooks is a
// duplicate of the hooked call and is dropped. An extended payload has the arguments: communicator hash, bytes,
// operation, root.
#pragma once

#include "handles.h"
#include "profshim/recorder.h"

namespace profshim::nvtx {

/// Returns true if a push or pop of this domain stands for an NCCL call. If the spec does not want NCCL, its ranges are
/// ordinary ranges.
inline bool is_nccl_call(nvtxDomainHandle_t domain) {
  if (domain == nullptr || !domain_of(domain).is_nccl) return false;
  const std::uint32_t mode = recorder::mode();
  return mode == 0 || (mode & recorder::kNccl) != 0;
}

/// Both return NVTX_NO_PUSH_POP_TRACKING, as NVTX does without a tool. Call them on the job's threads.
int nccl_push(Domain& domain, const nvtxEventAttributes_t* attributes);
int nccl_pop(Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count);

}  // namespace profshim::nvtx
