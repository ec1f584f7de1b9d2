// NCCL's profiler plugin (spec key capture.nccl_profiler) is the only source of algorithm, protocol and channels.
#pragma once

#include <atomic>

namespace profshim::nccl::profiler {

/// Call before or inside ncclCommInit*, on the job's thread. The first call sets NCCL_PROFILER_PLUGIN to this library
/// if the spec enables the plugin and the job has none.
void offer();

/// Call after ncclCommInit*: logs a problem if NCCL did not load the plugin.
void check_loaded();

/// Library's constructor only.
void reserve_variable(const char* own_path);

namespace detail {
extern constinit std::atomic<bool> offered, loaded;
}

}  // namespace profshim::nccl::profiler
