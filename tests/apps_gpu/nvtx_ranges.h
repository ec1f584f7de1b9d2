#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePop() { return 0; }
#endif
