#pragma once

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"

namespace profshim::nccl {

struct Arguments {
  Handle comm = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // count x size of the type, or from NCCL's NVTX range
  std::int32_t type = -1, op = -1;
  std::int32_t peer = kNone32;
};

/// Must have no destructor, because NVTX ranges keep a Call in thread-local memory.
struct Call {
  const Row* row = nullptr;
  spool::Thread* thread = nullptr;
  Event* event = nullptr;         // null = not recorded
  Communicator* freed = nullptr;  // restored to the table if the call fails
  Handle freed_handle = 0;
  bool pushed = false;  // an id is on CUPTI's stack of external correlation ids
  bool step_at_end = false;
};

void begin_call(Call& call, const Arguments& arguments, bool from_nvtx);
/// Preserves errno. `made`: the new communicator; null = none or unknown.
void end_call(Call& call, int result, Communicator* made);

void count_collective(Handle comm);

/// Nesting of ncclGroupStart and ncclGroupEnd on this thread, kept outside windows too: a recording may begin inside a
/// group.
namespace group {
struct State {
  std::uint32_t depth;
  std::uint32_t operation;  // shared by the group's calls; 0 = none yet
  std::uint32_t operation_count;
  Ticks single_call;         // Event::begin of the only operation; 0 = none, several, or some not recorded
  bool hooked;               // a hook of ncclGroupStart or ncclGroup*End is running
  bool recorded_from_start;  // recording was on when the group began
};
extern thread_local constinit State state __attribute__((tls_model("initial-exec")));
inline bool is_inside() { return state.depth != 0; }
inline void enter(int result) {
  if (result != kSuccess) return;
  if (state.depth++ == 0) state.recorded_from_start = recorder::mode_has(recorder::kArmed | recorder::kNccl);
}
/// Call even if ncclGroupEnd failed: NCCL leaves the group anyway.
void leave();
}  // namespace group

/// True while a recorded range of NCCL's NVTX domain is open on this thread: NCCL calls inside are not recorded.
namespace detail {
extern thread_local constinit bool inside_nvtx_range __attribute__((tls_model("initial-exec")));
}
inline bool inside_nvtx_range() { return detail::inside_nvtx_range; }

/// Call before the real ncclCommInit*. The first call starts the session; a rank in the environment takes precedence.
/// Job's thread, outside any LayerScope.
void activate_by_communicator(int rank, int ranks);
/// In a child of a fork.
void leave_parent();

}  // namespace profshim::nccl
