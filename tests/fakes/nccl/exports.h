// Frame of the exported functions.
//
// The fake has every public function of NCCL 2.28 and the growing of communicators of 2.29, whatever version it
// reports, for up to 8 ranks in one or several processes of one machine. No data moves. It behaves as NCCL in these
// points: work starts at the outermost ncclGroupEnd (for nonblocking communicators in a thread of its own), through
// cuLaunchKernelEx; one kernel per collective, which ends when the last rank's kernel has begun and the bytes have had
// their time; one kernel for the sends and receives of a group; ncclX is a weak name of pncclX; ncclBcast calls
// ncclBroadcast; ranges in the NVTX domain "NCCL".
//
// Environment: FAKE_NCCL_MBPS, bus bandwidth in MB/s (100000); each operation takes 5 us more.
#pragma once

#include "fakes/nccl/launch.h"
#include "fakes/nccl/nvtx_range.h"

// Defines the function pncclX and its weak name ncclX, as NCCL does.
#define EXPORT(name, ...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) int pnccl##name(__VA_ARGS__);                            \
  extern "C" __attribute__((visibility("default"), weak, alias("pnccl" #name))) int nccl##name(__VA_ARGS__); \
  extern "C" int pnccl##name(__VA_ARGS__)
