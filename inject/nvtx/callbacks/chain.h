// Forwards NVTX calls to the chained tool: the job's other NVTX tool (nsys, CUPTI's injection), if
// PROFSHIM_NVTX_CHAIN=1. The job gets our handles of domains and strings, but the tool's schema ids, resources and
// range ids.
#pragma once

#include <cstdint>

#include "inject/nvtx/handles.h"

namespace profshim::nvtx::chain {

inline constexpr unsigned kCoreSlots = NVTX_CBID_CORE_SIZE;
inline constexpr unsigned kCore2Slots = NVTX_CBID_CORE2_SIZE;
inline constexpr unsigned kPayloadSlots = 64;

// The tool's functions; null = none. attach() and attach_extension() write them before an NVTX copy calls our
// callbacks.
extern constinit NvtxFunctionPointer core[kCoreSlots];
extern constinit NvtxFunctionPointer core2[kCore2Slots];
extern constinit NvtxFunctionPointer sync_create;
extern constinit std::intptr_t payload[kPayloadSlots];

/// Library's constructor only.
void set_path(const char* path);
/// True after set_path(), even if attach() fails.
bool is_requested();

bool attach(NvtxGetExportTableFunc_t get);
/// Payload extension only: other extensions' handles would need translation.
void attach_extension(nvtxExtModuleInfo_t* module);

nvtxEventAttributes_t for_chained_tool(const nvtxEventAttributes_t* attributes);

/// Does nothing if no slot is free: our range then stays unfinished.
void map_range_id(nvtxRangeId_t chained, nvtxRangeId_t own);
nvtxRangeId_t take_range_id(nvtxRangeId_t chained);

}  // namespace profshim::nvtx::chain
