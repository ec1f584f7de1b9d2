// One NCCL call between the exported hook (or NCCL's NVTX range) and the spool: counts, group semantics, identities.
#pragma once

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"

namespace profshim::nccl {

/// What a call says about itself.
struct Arguments {
  Handle comm = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // count x size of the type, or what NCCL's NVTX range says
  std::int32_t type = -1, op = -1;
  std::int32_t peer = kNone32;
};

/// Trivial, so that it can wait for the end of an NVTX range in thread-local memory.
struct Call {
  const Row* row = nullptr;
  spool::Thread* thread = nullptr;
  Event* event = nullptr;         // open call in the spool; null when not recorded
  Communicator* freed = nullptr;  // taken out of the table; put back when the call fails
  Handle freed_handle = 0;
  bool pushed = false;  // an operation lies on CUPTI's stack
  bool step_at_end = false;
};

/// Before the real function: counts, steps, group state, and begins the event when armed. No allocation, lock or system
/// call but at the first sight of a communicator.
void begin_call(Call& call, const Arguments& arguments, bool from_nvtx);
/// After it. Keeps errno. `made`: the communicator that the call has made, where it is known.
void end_call(Call& call, int result, Communicator* made);

/// A collective that is not recorded.
void count_collective(Handle comm);

/// Group nesting is kept in every process, recorded or not: a recording may begin inside a group.
namespace group {
struct State {
  std::uint32_t depth;
  std::uint32_t operation;   // of all that is launched at the end of the outermost group; 0 = none yet
  std::uint32_t operations;  // recorded in it
  Ticks only_call;           // Event::begin of the one operation there is in it; 0 = none, several, or not all seen
  bool hooked;               // a group call that came through its hook is running
  bool whole;                // it was recorded when it began, so that no operation has been missed
};
extern thread_local constinit State state __attribute__((tls_model("initial-exec")));
inline bool is_inside() { return state.depth != 0; }
inline void started(int result) {
  if (result != kSuccess) return;
  if (state.depth++ == 0) state.whole = recorder::mode_has(recorder::kArmed | recorder::kNccl);
}
/// NCCL leaves the group whatever it then returns.
void ended();
}  // namespace group

/// A recorded range of NCCL's NVTX domain is open on this thread: what NCCL calls inside is part of it.
namespace detail {
extern thread_local constinit bool inside_nvtx_range __attribute__((tls_model("initial-exec")));
}
inline bool inside_nvtx_range() { return detail::inside_nvtx_range; }

/// The first strong event of a process: ncclCommInit* is about to run with this rank of so many. Activates the session,
/// once; the environment's rank is trusted more. Job's thread, outside any LayerScope.
void communicator_comes(int rank, int ranks);

}  // namespace profshim::nccl
