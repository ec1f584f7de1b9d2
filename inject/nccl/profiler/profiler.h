// What NCCL's profiler interface alone knows of an operation: algorithm, protocol, channels, NCCL's own count. Becomes
// a kNcclTask event beside the event of the call. Behind capture.nccl_profiler.
#pragma once

#include <atomic>

namespace profshim::nccl::profiler {

/// ncclCommInit* is about to run, or runs: at the first in a recorded process NCCL is told to open us as its profiler,
/// if the spec wants that and the job has none of its own. Job's thread.
void offer();

/// ncclCommInit* has made a communicator, so that NCCL has opened its profiler: says so when that was not us.
void communicator_is_made();

/// The constructor: keeps room in the environment for the path by which NCCL finds this library.
void reserve_variable(const char* own_path);

namespace detail {
extern constinit std::atomic<bool> offered, loaded;
}

}  // namespace profshim::nccl::profiler
