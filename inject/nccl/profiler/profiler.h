// NCCL's profiler interface (capture.nccl_profiler): the only source of algorithm, protocol, channels and NCCL's
// sequence number, which become a kNcclTask event beside the call's event.
#pragma once

#include <atomic>

namespace profshim::nccl::profiler {

/// Call before or inside ncclCommInit*, on the job's thread. Once per recorded process, sets NCCL_PROFILER_PLUGIN to
/// this library if the spec enables it and the job has no profiler.
void offer();

/// Call after ncclCommInit*. Reports a problem if NCCL did not open the offered library.
void check_loaded();

/// Constructor only: adds the environment entry for offer().
void reserve_variable(const char* own_path);

namespace detail {
extern constinit std::atomic<bool> offered, loaded;
}

}  // namespace profshim::nccl::profiler
