#include "call.h"

#include <algorithm>
#include <cerrno>

#include "inject/activation.h"
#include "inject/core/step_hook.h"
#include "inject/parent.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/session.h"

namespace profshim::nccl {

thread_local constinit group::State group::state = {};
thread_local constinit bool detail::inside_nvtx_range = false;

namespace {

constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kNccl;

constinit std::atomic<std::uint32_t> last_operation{0};
constinit std::atomic_flag communicator_seen = ATOMIC_FLAG_INIT;

std::uint32_t new_operation() {
  std::uint32_t id = last_operation.fetch_add(1, std::memory_order_relaxed) + 1;
  if (id == 0) id = last_operation.fetch_add(1, std::memory_order_relaxed) + 1;  // 0 = none
  return id;
}

std::uint8_t narrow_op(std::int32_t op) {
  if (op < 0) return kNoByte;
  return op >= kFirstUserOp ? kUserOp : static_cast<std::uint8_t>(op);
}

std::uint64_t payload_bytes(const Row& row, const Arguments& arguments, Communicator* comm) {
  switch (row.payload) {
    case Payload::Nothing:
      return 0;
    case Payload::Sent:
      return arguments.bytes;
    case Payload::SentToEach:
      return comm != nullptr ? arguments.bytes * static_cast<std::uint64_t>(std::max(size_of(*comm), 0)) : 0;
  }
  return 0;
}

void describe(Event& event, const Row& row, const Arguments& arguments, Communicator* comm, std::uint32_t sequence) {
  event = Event{};
  event.hook = row.hook;
  NcclArgs& args = event.nccl;
  args.count = arguments.count;
  args.comm = comm != nullptr ? defined_id(*comm) : 0;
  args.sequence = sequence;
  args.peer = arguments.peer;
  args.result = kSuccess;
  args.operation = 0;
  args.datatype = arguments.type >= 0 && arguments.type < kUserOp ? static_cast<std::uint8_t>(arguments.type) : kNoByte;
  args.op = narrow_op(arguments.op);
  args.group = group::is_inside() ? 1 : 0;
  args.from_nvtx = 0;
  args.bytes = payload_bytes(row, arguments, comm);
}

/// Calls in a group share an operation id, under which ncclGroupEnd launches their kernels.
void push_correlation(Call& call) {
  NcclArgs& args = call.event->nccl;
  group::State& group = group::state;
  if (launches(call.row->behavior)) {
    if (group::is_inside()) {
      if (group.operation == 0) group.operation = new_operation();
      ++group.operation_count;
      args.operation = group.operation;
      return;
    }
    args.operation = new_operation();
  } else if (call.row->behavior == Behavior::GroupEnd && group.depth == 1) {
    args.operation = group.operation;
    args.count = group.operation_count;
    args.group = 0;
  }
  if (args.operation == 0) return;
  device::push_external_correlation(args.operation);
  call.pushed = true;
}

}  // namespace

void group::leave() {
  if (state.depth == 0 || --state.depth != 0) return;
  state.operation = state.operation_count = 0;
  state.single_call = 0;
}

void count_collective(Handle comm) {
  if (Communicator* const known = find_or_add_communicator(comm)) next_sequence(*known);
}

void begin_call(Call& call, const Arguments& arguments, bool from_nvtx) {
  const Row& row = *call.row;
  std::uint32_t mode = recorder::mode();
  call.step_at_end = inject::steps_at_end(row.hook, mode);
  const bool recording = (mode & kRecording) == kRecording;
  Communicator* comm = nullptr;
  if (recording || row.behavior == Behavior::Collective) comm = find_or_add_communicator(arguments.comm);
  const std::uint32_t sequence = row.behavior == Behavior::Collective && comm != nullptr ? next_sequence(*comm) : 0;
  if (recording) {
    if (Event* const event = recorder::open_call(*call.thread)) {
      describe(*event, row, arguments, comm, sequence);
      event->nccl.from_nvtx = from_nvtx ? 1 : 0;
      if ((mode & recorder::kStacks) != 0) event->stack = call_stack::capture();
      call.event = event;
      push_correlation(call);
      recorder::begin(*event);
      if (group::State& group = group::state; group.depth != 0 && launches(row.behavior)) {
        group.single_call = group.operation_count == 1 && group.recorded_from_start ? event->begin : 0;
      }
    }
  }
  if (row.behavior == Behavior::Free) {
    // NCCL may reuse the handle once the real function has run.
    call.freed_handle = arguments.comm;
    call.freed = remove_communicator(arguments.comm);
  }
}

void end_call(Call& call, int result, Communicator* made) {
  if (__builtin_expect(recorder::mode() == 0, 0)) return;
  const Ticks now = call.event != nullptr ? ticks() : 0;
  const int saved_errno = errno;
  if (call.pushed) device::pop_external_correlation();
  if (call.freed != nullptr && has_failed(result)) restore_communicator(call.freed, call.freed_handle);
  if (call.event != nullptr) {
    Event& event = *call.event;
    event.nccl.result = result;
    if (has_failed(result)) event.flags |= kFailed;
    if (made != nullptr) event.nccl.comm = defined_id(*made);
    recorder::end_at(*call.thread, event, now);
  }
  // The end of the recorded call: take_over() must not count it a second time.
  if (call.step_at_end) session::step_boundary(now != 0 ? now : ticks(), std::nullopt, 0);
  errno = saved_errno;
}

void leave_parent() { communicator_seen.clear(); }

void activate_by_communicator(int rank, int ranks) {
  if (recorder::mode() != 0 || !session::requested() || !inject::know_process()) return;
  if (communicator_seen.test_and_set(std::memory_order_acq_rel)) return;
  const int saved_errno = errno;
  choose_clock();
  const Ticks now = ticks();
  const bool is_told = rank >= 0 && rank < ranks;
  inject::activate(session::Use::kNccl, is_told ? inject::rank_in_group(rank, ranks, "nccl") : rank_from_environment(),
                   now);
  errno = saved_errno;
}

}  // namespace profshim::nccl
