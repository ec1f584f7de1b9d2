// NCCL's profiler plugin interface, used if capture.nccl_profiler is set. It is the only source of an operation's
// algorithm, protocol, channels and NCCL's own sequence number. They become a kNcclTask event beside the call's event.
#pragma once

#include <atomic>

namespace profshim::nccl::profiler {

/// Call this before or inside ncclCommInit*. At the first call in a recorded process, sets NCCL_PROFILER_PLUGIN to this
/// library, if the spec enables it and the job has no profiler of its own. Job's thread.
void offer();

/// Call this when ncclCommInit* has created a communicator. Reports a problem if offer() has set the variable but NCCL
/// has not opened this library.
void check_loaded();

/// Puts an entry with the path of this library into the environment, which offer() activates. Constructor only.
void reserve_variable(const char* own_path);

namespace detail {
extern constinit std::atomic<bool> offered, loaded;
}

}  // namespace profshim::nccl::profiler
