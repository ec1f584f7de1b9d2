#pragma once

#include <span>

#include "chain.h"
#include "inject/nvtx/handles.h"

#define CHAINED_CORE(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core[NVTX_CBID_CORE_##NAME])
#define CHAINED_CORE2(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core2[NVTX_CBID_CORE2_##NAME])

#define CALLBACK(SLOT, FUNCTION) \
  Callback { SLOT, reinterpret_cast<NvtxFunctionPointer>(&FUNCTION) }

namespace profshim::nvtx {

struct Callback {
  unsigned slot;
  NvtxFunctionPointer function;
};

std::span<const Callback> core_range_callbacks();
std::span<const Callback> core2_range_callbacks();
std::span<const Callback> core_name_callbacks();
std::span<const Callback> core2_name_callbacks();
std::span<const Callback> sync_callbacks();
std::span<const Callback> payload_callbacks();

inline nvtxDomainHandle_t chained_domain(nvtxDomainHandle_t domain) { return domain_of(domain).chained; }

/// Set in the id of a range that the chained tool did not start. No other id has this bit: ids are counters or
/// addresses.
inline constexpr nvtxRangeId_t kUnknownToChainedTool = nvtxRangeId_t{1} << 62;

inline nvtxRangeId_t public_id(nvtxRangeId_t own) {
  return own != 0 && chain::is_requested() ? own | kUnknownToChainedTool : own;
}
/// Starts the range in the chained tool with `next` (null = the tool cannot). Returns the id for the job.
template <class Next, class... Args>
nvtxRangeId_t public_id(nvtxRangeId_t own, Next next, Args... args) {
  if (next == nullptr) return public_id(own);
  const nvtxRangeId_t id = next(args...);
  chain::map_range_id(id, own);
  return id;
}

struct EndedRange {
  nvtxRangeId_t own;  // 0 = not ours
  bool is_chained;    // the chained tool may know the id
};
inline EndedRange take_public_id(nvtxRangeId_t id) {
  if (!chain::is_requested()) return {id, false};
  if (const nvtxRangeId_t own = chain::take_range_id(id)) return {own, true};
  if ((id & kUnknownToChainedTool) != 0) return {id & ~kUnknownToChainedTool, false};
  return {0, true};
}

}  // namespace profshim::nvtx
