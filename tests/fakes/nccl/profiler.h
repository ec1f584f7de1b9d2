// Opens and calls a profiler plugin as src/plugin/profiler.cc, plugin_open.cc and enqueue.cc of NCCL 2.27.7 (interface
// v4), 2.28.9 (v5) and 2.30.7 (v6) do.
//
// Environment: FAKE_NCCL_PROFILER, the highest interface that this NCCL knows: 3, 4, 5 (default) or 6. NCCL's
// own variables NCCL_PROFILER_PLUGIN and NCCL_CONF_FILE have their usual effect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake::nccl {

/// Returns the result of ncclGetVersion for an NCCL with that interface.
int library_version();

/// One task of a plan, as its events describe it.
struct Task {
  const char* function;
  bool is_collective;
  std::uint64_t count;
  int root;  // or the peer of a send or receive
  std::uint8_t channels;
  void* call = nullptr;  // handle of the API call's event
};

/// ncclProfilerPluginInit: called at the end of ncclCommInit* on the calling thread. Opens the plugin for the first
/// communicator of the process. Returns the plugin's context.
void* begin_communicator(std::uint64_t hash, int ranks, int rank);
/// ncclProfilerPluginFinalize.
void end_communicator(void* context);

/// collTaskAppend, p2pTaskAppend: called on the thread of the API call, before the outermost group ends. Does nothing
/// before v5.
void* begin_call(void* context, const char* function, bool is_collective, std::uint64_t count, void* stream);
/// Called before and after the launches of the outermost ncclGroupEnd. They do nothing before v5.
void begin_group_end();
void end_group_end();

/// hostStreamPlanTask: called on the thread that launched the kernels. `counts`: the communicator's tasks so far by
/// function.
void run_plan(void* context, int rank, std::vector<Task> tasks, std::map<std::string, std::uint64_t>& counts);

}  // namespace fake::nccl
