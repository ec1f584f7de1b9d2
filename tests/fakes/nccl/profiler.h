// Opens and calls a profiler plugin as src/plugin/profiler.cc, plugin_open.cc and enqueue.cc of NCCL 2.27.7 (interface
// v4), 2.28.9 (v5) and 2.30.7 (v6) do.
//
// FAKE_NCCL_PROFILER: highest interface that this NCCL knows: 3, 4, 5 (default) or 6. NCCL_PROFILER_PLUGIN and
// NCCL_CONF_FILE work as in NCCL.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake::nccl {

int library_version();

struct Task {
  const char* function;
  bool is_collective;
  std::uint64_t count;
  int root;  // or the peer
  std::uint8_t channels;
  void* call = nullptr;  // the API call's event
};

/// Acts as ncclProfilerPluginInit, at the end of ncclCommInit* on the calling thread. Opens the plugin for the
/// process's first communicator. Returns the plugin's context.
void* begin_communicator(std::uint64_t hash, int ranks, int rank);
/// Acts as ncclProfilerPluginFinalize.
void end_communicator(void* context);

/// Acts as collTaskAppend and p2pTaskAppend, on the API call's thread before the outermost group ends. Does nothing
/// before v5.
void* begin_call(void* context, const char* function, bool is_collective, std::uint64_t count, void* stream);
/// Call these around the launches of the outermost ncclGroupEnd. Do nothing before v5.
void begin_group_end();
void end_group_end();

/// Acts as hostStreamPlanTask, on the launching thread. `counts`: the communicator's tasks so far, by function.
void run_plan(void* context, int rank, std::vector<Task> tasks, std::map<std::string, std::uint64_t>& counts);

}  // namespace fake::nccl
