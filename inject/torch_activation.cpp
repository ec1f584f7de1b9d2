#include "torch_activation.h"

#include <unistd.h>

#include <atomic>

#include "activation.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

pid_t start_pid = 0;
int start_rank = -1;
constinit std::atomic<bool> decided{false};

/// Children of fork are workers of the rank that they inherited, unless somebody gave them one of their own.
bool is_worker(const Rank& rank) { return is_forked_child() && rank.rank == start_rank; }

}  // namespace

bool is_forked_child() { return getpid() != start_pid; }

void note_start() {
  start_pid = getpid();
  start_rank = rank_from_environment().rank;
}

bool activate_once() {
  if (decided.load(std::memory_order_relaxed)) return true;
  const Rank rank = rank_from_environment();
  const bool known = is_worker(rank) || inject::activate_by_environment(rank);
  decided.store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace profshim::torch
