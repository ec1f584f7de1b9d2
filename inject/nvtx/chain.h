// The chained tool: the job's other NVTX tool (nsys, CUPTI's injection), which gets every call after us with
// PROFSHIM_NVTX_CHAIN=1. The job has our handles of domains and strings, but the tool's schema ids, resources and range
// ids.
#pragma once

#include <cstdint>

#include "handles.h"

namespace profshim::nvtx::chain {

inline constexpr unsigned kCoreSlots = NVTX_CBID_CORE_SIZE;
inline constexpr unsigned kCore2Slots = NVTX_CBID_CORE2_SIZE;
inline constexpr unsigned kPayloadSlots = 64;

// Null = none. Written before the functions of an NVTX copy run.
extern constinit NvtxFunctionPointer core[kCoreSlots];
extern constinit NvtxFunctionPointer core2[kCore2Slots];
extern constinit NvtxFunctionPointer sync_create;
extern constinit std::intptr_t payload[kPayloadSlots];

/// Constructor only.
void set_path(const char* path);
/// Returns true even if attach() fails.
bool is_requested();

/// Returns false if the tool cannot be opened or refuses.
bool attach(NvtxGetExportTableFunc_t get);
/// Other extensions are not attached: their handles are not translated.
void attach_extension(nvtxExtModuleInfo_t* module);

/// Replaces our string handle.
nvtxEventAttributes_t for_chained_tool(const nvtxEventAttributes_t* attributes);

/// Drops the mapping if there is no room near its slot: our range then stays unfinished.
void map_range_id(nvtxRangeId_t chained, nvtxRangeId_t own);
/// Returns our id, or 0, and ends the mapping.
nvtxRangeId_t take_range_id(nvtxRangeId_t chained);

}  // namespace profshim::nvtx::chain
