// The functions that NVTX calls for the job, in three tables, and how they pass a call on to a chained tool.
#pragma once

#include <span>

#include "chain.h"
#include "handles.h"

#define CHAINED_CORE(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core[NVTX_CBID_CORE_##NAME])
#define CHAINED_CORE2(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core2[NVTX_CBID_CORE2_##NAME])

#define CALLBACK(SLOT, FUNCTION) \
  Callback { SLOT, reinterpret_cast<NvtxFunctionPointer>(&FUNCTION) }

namespace profshim::nvtx {

struct Callback {
  unsigned slot;
  NvtxFunctionPointer function;
};

/// By the tables of NVTX that they belong to.
std::span<const Callback> core_range_callbacks();
std::span<const Callback> core2_range_callbacks();
std::span<const Callback> core_name_callbacks();
std::span<const Callback> core2_name_callbacks();
std::span<const Callback> sync_callbacks();
std::span<const Callback> payload_callbacks();

inline nvtxDomainHandle_t theirs(nvtxDomainHandle_t domain) { return domain_of(domain).theirs; }

/// The range id that the job gets: the other tool's, tied to ours, where there is one.
template <class Theirs, class... Args>
nvtxRangeId_t public_id(nvtxRangeId_t ours, Theirs next, Args... args) {
  if (next == nullptr) return ours;
  const nvtxRangeId_t id = next(args...);
  chain::tie(id, ours);
  return id;
}
/// Ours for a public id, where a chained tool gives out the ids.
inline nvtxRangeId_t our_id(nvtxRangeId_t id, bool chained) { return chained ? chain::untie(id) : id; }

}  // namespace profshim::nvtx
