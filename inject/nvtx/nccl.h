// NCCL's own NVTX ranges (domain "NCCL", since 2.16): one for each call of its interface. They catch what does not pass
// our hooks: a static NCCL, calls by dlsym or ctypes. A range inside one of our hooks is that call once more, and is
// dropped. What it says beside the name lies in an extended payload: the communicator's hash, bytes, operation, root.
#pragma once

#include "handles.h"
#include "profshim/recorder.h"

namespace profshim::nvtx {

/// Does a push or pop of this domain stand for a call of NCCL? Not where NCCL is not wanted: then it is a range as any
/// other.
inline bool is_nccl_call(nvtxDomainHandle_t domain) {
  if (domain == nullptr || !domain_of(domain).is_nccl) return false;
  const std::uint32_t mode = recorder::mode();
  return mode == 0 || (mode & recorder::kNccl) != 0;
}

/// Both return what NVTX's push and pop do without a tool. On the job's thread.
int nccl_push(Domain& domain, const nvtxEventAttributes_t* attributes);
int nccl_pop(Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count);

}  // namespace profshim::nvtx
