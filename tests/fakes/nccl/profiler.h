// How the fake NCCL opens and calls a profiler plugin: as src/plugin/profiler.cc, plugin_open.cc and enqueue.cc of NCCL
// 2.27.7 (interface v4), 2.28.9 (v5) and 2.30.7 (v6) do.
//
// Environment: FAKE_NCCL_PROFILER, the highest interface that this NCCL knows: 3, 4, 5 (default) or 6. NCCL's own
// NCCL_PROFILER_PLUGIN and NCCL_CONF_FILE.
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
  int root;  // or peer
  std::uint8_t channels;
  void* call = nullptr;  // handle of the event of the call
};

/// ncclProfilerPluginInit: at the end of ncclCommInit*, on the thread that makes the communicator. Opens the plugin at
/// the first of a process. Returns the plugin's context.
void* begin_communicator(std::uint64_t hash, int ranks, int rank);
/// ncclProfilerPluginFinalize.
void end_communicator(void* context);

/// collTaskAppend, p2pTaskAppend: on the thread that calls, before the outermost group has ended. Nothing before v5.
void* begin_call(void* context, const char* function, bool is_collective, std::uint64_t count, void* stream);
/// Around the launches at the outermost group's end. Nothing before v5.
void begin_group_end();
void end_group_end();

/// hostStreamPlanTask: on the thread that has launched the kernels. `counts`: the communicator's, of each function.
void run_plan(void* context, int rank, std::vector<Task> tasks, std::map<std::string, std::uint64_t>& counts);

}  // namespace fake::nccl
