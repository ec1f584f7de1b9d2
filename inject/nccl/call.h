// Records one NCCL call, for the exported hook or for NCCL's NVTX range: sequence numbers, groups, communicators.
#pragma once

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"

namespace profshim::nccl {

/// The arguments of a call that are recorded.
struct Arguments {
  Handle comm = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // count x size of the type, or the value in NCCL's NVTX range
  std::int32_t type = -1, op = -1;
  std::int32_t peer = kNone32;
};

/// State of a call between begin_call() and end_call(). Trivial, because NVTX ranges keep it in thread-local memory.
struct Call {
  const Row* row = nullptr;
  spool::Thread* thread = nullptr;
  Event* event = nullptr;         // open call in the spool; null if it is not recorded
  Communicator* freed = nullptr;  // removed from the table; restored if the call fails
  Handle freed_handle = 0;
  bool pushed = false;  // an external correlation id is on CUPTI's stack
  bool step_at_end = false;
};

/// Call this before the real function. Counts the collective, makes a step boundary, updates the group, and begins the
/// event if armed. No allocation, lock or system call, except at the first call on a communicator.
void begin_call(Call& call, const Arguments& arguments, bool from_nvtx);
/// Call this after the real function. Preserves errno. `made`: the communicator that the call has created; null if
/// there is none or it is unknown.
void end_call(Call& call, int result, Communicator* made);

/// Counts a collective that is not recorded.
void count_collective(Handle comm);

/// Nesting of ncclGroupStart and ncclGroupEnd on this thread. Kept in every process, because a recording may begin
/// inside a group.
namespace group {
struct State {
  std::uint32_t depth;
  std::uint32_t operation;        // id of everything that the end of the outermost group launches; 0 = none yet
  std::uint32_t operation_count;  // operations recorded in the group
  Ticks single_call;              // Event::begin of the group's only operation; 0 = none, several, or not all were seen
  bool hooked;                    // a group call is running that came through its hook
  bool recorded_from_start;       // the group was recorded when it began, so no operation was missed
};
extern thread_local constinit State state __attribute__((tls_model("initial-exec")));
inline bool is_inside() { return state.depth != 0; }
inline void enter(int result) {
  if (result != kSuccess) return;
  if (state.depth++ == 0) state.recorded_from_start = recorder::mode_has(recorder::kArmed | recorder::kNccl);
}
/// Call this whatever ncclGroupEnd returns: NCCL leaves the group even on failure.
void leave();
}  // namespace group

/// True while a recorded range of NCCL's NVTX domain is open on this thread. Calls inside it belong to that range.
namespace detail {
extern thread_local constinit bool inside_nvtx_range __attribute__((tls_model("initial-exec")));
}
inline bool inside_nvtx_range() { return detail::inside_nvtx_range; }

/// Call this before ncclCommInit* runs with this rank and size. Activates the session at the first call of the process.
/// A rank from the environment takes precedence over `rank`. Job's thread, outside any LayerScope.
void activate_by_communicator(int rank, int ranks);

}  // namespace profshim::nccl
