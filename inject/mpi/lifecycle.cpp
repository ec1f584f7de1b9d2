#include "lifecycle.h"

#include <atomic>

#include "communicators.h"
#include "inject/activation.h"
#include "inject/start_gate.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::mpi {
namespace {

constinit std::atomic_flag seen = ATOMIC_FLAG_INIT;

/// In an MPI session, the environment's rank has precedence: `comm` may lack ranks.
Rank rank_in(Handle comm, bool world) {
  static constinit Query<int(Handle, int*)> ask_rank{"PMPI_Comm_rank"}, ask_size{"PMPI_Comm_size"};
  Rank rank = rank_from_environment();
  if (!world && rank.rank >= 0) return rank;
  if (ask_rank.get() == nullptr || ask_size.get() == nullptr) return rank;
  int own = -1, size = -1;
  if (ask_rank.get()(comm, &own) != 0 || ask_size.get()(comm, &size) != 0) return rank;
  rank.rank = own;
  rank.world_size = size;
  rank.source = "mpi";
  return rank;
}

}  // namespace

bool mpi_was_seen() { return seen.test(std::memory_order_relaxed); }

void begin_with_world() {
  define_predefined_communicators();
  session::measure_cost_with(Layer::kMpi, measure_call_cost);
}

bool activate_rank(const void* session_comm, Ticks began) {
  if (seen.test_and_set(std::memory_order_acq_rel)) return false;
  if (!detect_abi()) return false;
  const bool world = session_comm == nullptr;
  inject::activate(session::Use::kMpi, rank_in(world ? abi().world : handle_at(session_comm), world), began);
  inject::announce_recording(false);
  const bool records = (recorder::mode() & recorder::kActive) != 0;
  // A later CUDA call may start the recording (process.require_any), on a thread that may not call MPI.
  if (world && !records) define_predefined_communicators_at_first_call();
  if (world && records) begin_with_world();
  return records;
}

void record_initialization(HookId hook, Ticks began, Ticks ended, bool fortran) {
  if (!recorder::mode_has(recorder::kArmed | recorder::kMpi)) return;
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) return recorder::lose_event(recorder::kMpi);
  Event event;
  event.hook = hook;
  event.begin = began;
  event.end = ended;
  event.flags = fortran ? kFortran : 0;
  event.mpi = {0, 0, 1, 0, kNone32, kNone32, 0, 0, 0};
  recorder::commit(*thread, event);
}

}  // namespace profshim::mpi
