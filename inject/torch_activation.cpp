#include "torch_activation.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "activation.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

pid_t start_pid = 0;
int start_rank = -1;
constinit std::atomic<bool> decided{false};
constinit std::atomic<bool> waits{false};

/// Children of fork are workers of the rank that they inherited, unless somebody gave them one of their own.
bool is_worker(const Rank& rank) { return is_forked_child() && rank.rank == start_rank; }

/// For the line that says why nothing was recorded. Of a process that only started others they say it, or have no need.
void at_exit() {
  rusage children{};
  const bool alone = getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0;
  if (alone && !is_forked_child() && !decided.exchange(true)) inject::activate_by_environment(rank_from_environment());
}

/// A process that nobody has given a rank may get one from init_process_group(), or start others that do. Where steps
/// come from PyTorch's ranges it loses nothing by waiting for the first of them; what it starts then leaves the ranges
/// to it.
bool waits_for_range(const Rank& rank, Sign sign) {
  if (rank.rank >= 0) return false;
  if (inject::parent_waits()) return true;
  if (sign == Sign::kRange) return false;
  if (waits.load(std::memory_order_relaxed)) return true;
  if (!session::steps_come_from_ranges()) return false;
  if (!waits.exchange(true)) {
    inject::note_waiting();
    std::atexit(at_exit);
  }
  return true;
}

}  // namespace

bool is_forked_child() { return getpid() != start_pid; }

void note_start() {
  start_pid = getpid();
  start_rank = rank_from_environment().rank;
}

Known activate_once(Sign sign) {
  if (decided.load(std::memory_order_relaxed)) return Known::kYes;
  const Rank rank = rank_from_environment();
  if (!is_worker(rank)) {
    if (waits_for_range(rank, sign)) return Known::kNotByThis;
    if (!inject::activate_by_environment(rank)) return Known::kNo;
  }
  decided.store(true, std::memory_order_relaxed);
  return Known::kYes;
}

void activate_as_member(int rank, int size) {
  Rank known = rank_from_environment();
  if (known.rank >= 0 && is_worker(known)) return;
  if (known.rank < 0) {
    known.rank = rank;
    known.world_size = size;
    known.source = "torch.distributed";
  }
  if (!decided.exchange(true)) inject::activate(known, 0);
}

}  // namespace profshim::torch
