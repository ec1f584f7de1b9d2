// The other NVTX tool of the job (nsys, CUPTI's own injection), if we have taken its place with PROFSHIM_NVTX_CHAIN=1:
// it is attached to every NVTX instance before us, and every call goes on to it. The job holds our handles, so what
// takes a handle has to be translated; range ids, schema ids and resources are theirs.
#pragma once

#include <cstdint>

#include "handles.h"

namespace profshim::nvtx::chain {

inline constexpr unsigned kCoreSlots = NVTX_CBID_CORE_SIZE;
inline constexpr unsigned kCore2Slots = NVTX_CBID_CORE2_SIZE;
inline constexpr unsigned kPayloadSlots = 64;

// What the other tool has installed; null = nothing. Written while an instance is initialised, before its functions
// run.
extern constinit NvtxFunctionPointer core[kCoreSlots];
extern constinit NvtxFunctionPointer core2[kCore2Slots];
extern constinit NvtxFunctionPointer sync_create;
extern constinit std::intptr_t payload[kPayloadSlots];

/// Constructor: the path that somebody else had set.
void set_path(const char* path);
bool wanted();

/// Lets the other tool attach to an instance and keeps what it installed. False when it could not be opened.
bool attach(NvtxGetExportTableFunc_t get);
/// The same for the payload extension. Other extensions take handles that we do not translate: they stay unattached.
void attach_extension(nvtxExtModuleInfo_t* module);

/// The attributes as the other tool must see them: with its own string handle.
nvtxEventAttributes_t translated(const nvtxEventAttributes_t* attributes);

/// Ties the other tool's range id, which the job sees, to ours.
void tie(nvtxRangeId_t theirs, nvtxRangeId_t ours);
/// Ours for theirs, once; 0 = none.
nvtxRangeId_t untie(nvtxRangeId_t theirs);

}  // namespace profshim::nvtx::chain
