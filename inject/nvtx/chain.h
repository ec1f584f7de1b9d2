// The chained tool: the other NVTX tool of the job (nsys, or CUPTI's own injection), after PROFSHIM_NVTX_CHAIN=1 has
// put us in its place. It attaches to every NVTX copy before us, and gets every call after us. The job has our handles
// of domains and strings, so they are translated in forwarded calls. Schema ids and resources are those of the
// chained tool. So are the ids of ranges that it can start.
#pragma once

#include <cstdint>

#include "handles.h"

namespace profshim::nvtx::chain {

inline constexpr unsigned kCoreSlots = NVTX_CBID_CORE_SIZE;
inline constexpr unsigned kCore2Slots = NVTX_CBID_CORE2_SIZE;
inline constexpr unsigned kPayloadSlots = 64;

// The functions that the chained tool has installed; null = none. They are written while an NVTX copy initializes,
// before its functions run.
extern constinit NvtxFunctionPointer core[kCoreSlots];
extern constinit NvtxFunctionPointer core2[kCore2Slots];
extern constinit NvtxFunctionPointer sync_create;
extern constinit std::intptr_t payload[kPayloadSlots];

/// Sets the path of the chained tool. The library's constructor calls this.
void set_path(const char* path);
/// Returns true if a tool is to be chained, even if attach() then fails.
bool is_requested();

/// Lets the chained tool attach to an NVTX copy, and keeps the functions that it installs. Returns false if the tool
/// cannot be opened or refuses.
bool attach(NvtxGetExportTableFunc_t get);
/// The same for the payload extension. The tool is not attached to other extensions: their calls have handles that are
/// not translated.
void attach_extension(nvtxExtModuleInfo_t* module);

/// Copies the attributes and replaces our string handle by the chained tool's.
nvtxEventAttributes_t for_chained_tool(const nvtxEventAttributes_t* attributes);

/// Maps the chained tool's range id, which the job has, to our id. Drops the mapping if there is no room near its slot:
/// our range then stays unfinished.
void map_range_id(nvtxRangeId_t chained, nvtxRangeId_t own);
/// Returns our id and removes the mapping; 0 if there is none.
nvtxRangeId_t take_range_id(nvtxRangeId_t chained);

}  // namespace profshim::nvtx::chain
