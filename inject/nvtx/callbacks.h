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

/// Set in the id that the job gets for a range which the chained tool has not started, because the tool has no function
/// for this kind of start. Neither our own ids (see start() in ranges.cpp) nor those of tools, which count or use
/// addresses, have this bit.
inline constexpr nvtxRangeId_t kUnknownToChainedTool = nvtxRangeId_t{1} << 62;

/// Returns the range id that the job gets for a range that the chained tool, if there is one, has not started.
inline nvtxRangeId_t public_id(nvtxRangeId_t own) {
  return own != 0 && chain::is_requested() ? own | kUnknownToChainedTool : own;
}
/// Returns the range id that the job gets. If a chained tool has a start function, that is its id, mapped to `own`.
template <class Next, class... Args>
nvtxRangeId_t public_id(nvtxRangeId_t own, Next next, Args... args) {
  if (next == nullptr) return public_id(own);
  const nvtxRangeId_t id = next(args...);
  chain::map_range_id(id, own);
  return id;
}

struct EndedRange {
  nvtxRangeId_t own;  // 0 = not a range of ours
  bool is_chained;    // the chained tool may know the range by the job's id
};
/// Returns what an id from public_id() means, and ends the mapping.
inline EndedRange take_public_id(nvtxRangeId_t id) {
  if (!chain::is_requested()) return {id, false};
  if (const nvtxRangeId_t own = chain::take_range_id(id)) return {own, true};
  if ((id & kUnknownToChainedTool) != 0) return {id & ~kUnknownToChainedTool, false};
  return {0, true};
}

}  // namespace profshim::nvtx
