// The fake NCCL exports the functions of 2.28, and ncclCommGrow and ncclCommGetUniqueId of 2.29, whatever version
// ncclGetVersion reports. Up to 8 ranks run on one machine, in one or several processes. No data moves.
//
// As in NCCL:
// - The outermost ncclGroupEnd launches through cuLaunchKernelEx; for nonblocking communicators, a thread of NCCL does.
// - A collective is one kernel. It ends when the last rank's kernel has begun and the transfer time has passed.
// - A group's sends and receives on one communicator and stream are one kernel.
// - ncclX is a weak name of pncclX. ncclBcast calls ncclBroadcast.
//
// FAKE_NCCL_MBPS: bus bandwidth in MB/s (100000); each operation takes 5 us more.
#pragma once

#include "fakes/nccl/launch.h"
#include "fakes/nccl/nvtx_range.h"

#define EXPORT(name, ...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) int pnccl##name(__VA_ARGS__);                            \
  extern "C" __attribute__((visibility("default"), weak, alias("pnccl" #name))) int nccl##name(__VA_ARGS__); \
  extern "C" int pnccl##name(__VA_ARGS__)
