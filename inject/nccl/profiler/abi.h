// NCCL's profiler plugin interface, versions 4 (NCCL 2.27), 5 (2.28) and 6 (2.29 and 2.30): of its structs what we
// read, written down from NCCL's src/include/plugin/profiler/profiler_v{4,5,6}.h and
// src/include/plugin/nccl_profiler.h. tests/unit/inject/nccl_profiler_test.cpp holds the offsets.
//
// How NCCL uses it (src/plugin/profiler.cc, plugin_open.cc, enqueue.cc of 2.27.7, 2.28.9, 2.29.7 and 2.30.7):
//   - While a communicator is made it opens what NCCL_PROFILER_PLUGIN names: a path, libnccl-profiler-X.so for "X", the
//     process itself for STATIC_PLUGIN, nothing for "none"; libnccl-profiler.so where it is not set, and where there is
//     none, since 2.28, the network plugin. In that it takes the table with the highest version that it knows
//     (2.32.3 looks for v7, then for v6).
//   - v5, v6: collTaskAppend() and p2pTaskAppend() start a CollApi or P2pApi event on the thread that is inside of
//     ncclAllReduce() and the like, and keep our handle with the task. hostStreamPlanTask() hands it back as the parent
//     of the task's Coll or P2p event, on whatever thread that runs: the caller's, one of NCCL's own for communicators
//     that do not block, one of CUDA's when a graph was captured or a launch must wait.
//   - v4: the parent of a task is the event of its plan, and a task is shown only where that got a handle. Tasks of a
//     group are sorted by size: nothing says which call was whose.
//   - Collectives of copy engines and symmetric kernels have no task.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::nccl::profiler {

/// Bits of the activation mask, and types of events.
enum : std::uint64_t {
  kGroup = 1u << 0,  // a plan; v4: asked for wherever tasks are
  kCollective = 1u << 1,
  kMessage = 1u << 2,
  kCollectiveCall = 1u << 9,  // since v5
  kMessageCall = 1u << 10,    // since v5
};

struct CollectiveTask {
  std::uint64_t sequence;  // of this function on its communicator; work captured into a graph is not counted
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
struct MessageTask {
  const char* function;  // "Send"
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

/// The head of an event's description; both members of the union grow at their end only.
template <class Type>
struct Description {
  Type type;
  void* parent;
  int rank;
  union {
    CollectiveTask collective;
    MessageTask message;
  };
};
using DescriptionV4 = Description<std::uint8_t>;
using DescriptionV5 = Description<std::uint64_t>;  // and v6

/// The table that NCCL looks up under the name ncclProfiler_vN.
template <class Init, class Description>
struct Table {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Description* description);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
/// `mask` is a variable of NCCL's, one for the process; `log` its logging function.
using InitV4 = int(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                   void (*log)());
using InitV5 = int(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                   void (*log)());
using TableV4 = Table<InitV4, DescriptionV4>;
using TableV5 = Table<InitV5, DescriptionV5>;  // and v6

}  // namespace profshim::nccl::profiler
