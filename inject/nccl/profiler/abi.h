// NCCL's profiler plugin interface, versions 4 (NCCL 2.27), 5 (2.28) and 6 (2.29, 2.30).
// Source: src/include/plugin/profiler/profiler_v{4,5,6}.h, src/include/plugin/nccl_profiler.h.
//
// From NCCL's src/plugin/profiler.cc, plugin_open.cc and enqueue.cc of 2.27.7, 2.28.9, 2.29.7 and 2.30.7:
//   - While it creates a communicator, NCCL opens the library that NCCL_PROFILER_PLUGIN names. "X" means
//     libnccl-profiler-X.so, STATIC_PLUGIN the process itself, "none" no library. If unset, NCCL opens
//     libnccl-profiler.so or else, since 2.28, the network plugin. NCCL uses the highest version that it supports.
//   - v5, v6: collTaskAppend() and p2pTaskAppend() start a CollApi or P2pApi event on the calling thread and keep our
//     handle. hostStreamPlanTask() passes the handle as parent of the Coll or P2p event, perhaps on another thread.
//   - v4: a task's (operation's) parent is the event of its plan (launch). If the plan has no handle, its tasks
//     are not reported. NCCL sorts a group's tasks by size, so a task's call is unknown.
//   - Copy engine collectives and symmetric kernels have no task.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::nccl::profiler {

/// Bits of the activation mask.
enum : std::uint64_t {
  kGroup = 1u << 0,  // a plan; v4 reports it whenever tasks are enabled
  kCollective = 1u << 1,
  kPointToPoint = 1u << 2,
  kCollectiveCall = 1u << 9,     // since v5
  kPointToPointCall = 1u << 10,  // since v5
};

struct CollectiveTask {
  std::uint64_t sequence;  // NCCL's count on the communicator, without calls captured into a graph
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char* algorithm;
  const char* protocol;
};
struct PointToPointTask {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

/// The first members of an event descriptor. Later versions append to the union's members.
template <class Type>
struct Description {
  Type type;
  void* parent;
  int rank;
  union {
    CollectiveTask collective;
    PointToPointTask point_to_point;
  };
};
using DescriptionV4 = Description<std::uint8_t>;
using DescriptionV5 = Description<std::uint64_t>;  // also v6

/// The table at symbol ncclProfiler_vN.
template <class Init, class Description>
struct Table {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Description* description);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
/// `mask` is shared by the whole process.
using InitV4 = int(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                   void (*log)());
using InitV5 = int(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                   void (*log)());
using TableV4 = Table<InitV4, DescriptionV4>;
using TableV5 = Table<InitV5, DescriptionV5>;  // also v6

}  // namespace profshim::nccl::profiler
