// Callbacks: the functions that NVTX calls on the job's threads. Each records the call, then forwards it to the chained
// tool, if there is one.
#pragma once

#include <span>

#include "chain.h"
#include "handles.h"

// The function that the chained tool has installed for an NVTX function; null if there is none.
#define CHAINED_CORE(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core[NVTX_CBID_CORE_##NAME])
#define CHAINED_CORE2(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core2[NVTX_CBID_CORE2_##NAME])

#define CALLBACK(SLOT, FUNCTION) \
  Callback { SLOT, reinterpret_cast<NvtxFunctionPointer>(&FUNCTION) }

namespace profshim::nvtx {

struct Callback {
  unsigned slot;
  NvtxFunctionPointer function;
};

// One span for each NVTX function table and file.
std::span<const Callback> core_range_callbacks();
std::span<const Callback> core2_range_callbacks();
std::span<const Callback> core_name_callbacks();
std::span<const Callback> core2_name_callbacks();
std::span<const Callback> sync_callbacks();
std::span<const Callback> payload_callbacks();

/// The chained tool's handle of a domain.
inline nvtxDomainHandle_t chained_domain(nvtxDomainHandle_t domain) { return domain_of(domain).chained; }

/// Returns the range id that the job gets. If a chained tool has a start function, that is its id, mapped to `own`.
template <class Next, class... Args>
nvtxRangeId_t public_id(nvtxRangeId_t own, Next next, Args... args) {
  if (next == nullptr) return own;
  const nvtxRangeId_t id = next(args...);
  chain::map_range_id(id, own);
  return id;
}
/// Returns our id for an id that public_id() has returned, and ends the mapping.
inline nvtxRangeId_t take_own_id(nvtxRangeId_t id, bool is_chained) {
  return is_chained ? chain::take_range_id(id) : id;
}

}  // namespace profshim::nvtx
