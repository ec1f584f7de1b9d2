// NCCL's profiler plugin interface, versions 4 (NCCL 2.27), 5 (2.28) and 6 (2.29 and 2.30). The structs have only the
// members that are read. Source: NCCL's src/include/plugin/profiler/profiler_v{4,5,6}.h and
// src/include/plugin/nccl_profiler.h. tests/unit/inject/nccl_profiler_test.cpp checks the offsets.
//
// NCCL uses it as follows (src/plugin/profiler.cc, plugin_open.cc, enqueue.cc of 2.27.7, 2.28.9, 2.29.7 and 2.30.7):
//   - While it creates a communicator, NCCL opens the library that NCCL_PROFILER_PLUGIN names: a path,
//     libnccl-profiler-X.so for "X", the process itself for STATIC_PLUGIN, no library for "none". If the variable is
//     not set, it opens libnccl-profiler.so; if that does not exist, since 2.28 the network plugin. In the library it
//     takes the table with the highest version that it knows (2.32.3 looks for v7, then for v6).
//   - v5, v6: collTaskAppend() and p2pTaskAppend() start a CollApi or P2pApi event on the thread that is inside
//     ncclAllReduce() and the like. They keep our handle with the task. hostStreamPlanTask() passes it as the parent of
//     the task's Coll or P2p event, on one of these threads: the caller's; NCCL's own for non-blocking communicators;
//     CUDA's if a graph was captured or a launch must wait.
//   - v4: the parent of a task is the event of its plan. NCCL reports a task only if the plan's event has a handle.
//   Tasks
//     of a group are sorted by size, so the call of a task is unknown.
//   - Collectives by copy engines and symmetric kernels have no task.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::nccl::profiler {

/// Bits of the activation mask; also the types of events.
enum : std::uint64_t {
  kGroup = 1u << 0,  // a plan; v4 reports it whenever tasks are enabled
  kCollective = 1u << 1,
  kPointToPoint = 1u << 2,
  kCollectiveCall = 1u << 9,     // since v5
  kPointToPointCall = 1u << 10,  // since v5
};

struct CollectiveTask {
  std::uint64_t sequence;  // NCCL's count of this function on the communicator, without calls captured into a graph
  const char* function;    // "AllReduce"
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char* algorithm;  // "RING"
  const char* protocol;   // "LL"
};
struct PointToPointTask {
  const char* function;  // "Send"
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

/// The head of an event's description. New versions extend the members of the union only at their end.
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
using DescriptionV5 = Description<std::uint64_t>;  // and v6

/// The table that NCCL finds as the symbol ncclProfiler_vN.
template <class Init, class Description>
struct Table {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Description* description);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
/// `mask` points to a variable of NCCL, one for the whole process.
using InitV4 = int(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                   void (*log)());
using InitV5 = int(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                   void (*log)());
using TableV4 = Table<InitV4, DescriptionV4>;
using TableV5 = Table<InitV5, DescriptionV5>;  // and v6

}  // namespace profshim::nccl::profiler
