#include "activation.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "inject/activation.h"
#include "profshim/base/environment.h"
#include "profshim/base/glob.h"
#include "profshim/base/rank.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

pid_t start_pid = 0;
int start_rank = -1;
constinit std::atomic<bool> decided{false};
constinit std::atomic<bool> waits{false};
/// A process that only launches ranks calls fewer operators.
constexpr std::uint32_t kManyOperators = 1000;
constinit std::atomic<std::uint32_t> operators_called{0};

bool is_worker(const Rank& rank) { return is_forked_child() && rank.rank == start_rank; }

/// Activates a process that never got a rank, to report why nothing is recorded. A parent leaves the report
/// to its children.
void at_exit() {
  rusage children{};
  const bool has_no_children = getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0;
  if (has_no_children && !is_forked_child() && !decided.exchange(true))
    inject::activate_by_environment(session::Use::kTorch, rank_from_environment());
}

/// Must not use a lock: fork() could leave it locked in the child.
const std::vector<std::string>& step_ranges() {
  static constinit std::atomic<const std::vector<std::string>*> known{nullptr};
  if (const auto* const ranges = known.load(std::memory_order_acquire)) return *ranges;
  auto own = std::make_unique<const std::vector<std::string>>(session::step_ranges());
  const std::vector<std::string>* first = nullptr;
  return known.compare_exchange_strong(first, own.get()) ? *own.release() : *first;
}

bool makes_step(const char* range) {
  if (range == nullptr) return false;
  const std::vector<std::string>& patterns = step_ranges();
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return glob_match(pattern, range); });
}

void wait() {
  if (waits.exchange(true)) return;
  inject::note_waiting();
  std::atexit(at_exit);
}

/// A process without a rank may get one from init_process_group(), or only launch the ranks.
bool waits_for_step(const Rank& rank, const char* range) {
  if (rank.rank >= 0) return false;
  if (inject::parent_waits()) return true;
  if (step_ranges().empty() || makes_step(range)) return false;
  wait();
  return true;
}

/// True if WORLD_SIZE is above 1, and this process has no rank: init_process_group() will give it one.
bool will_join_group() { return number_in_environment("WORLD_SIZE") > 1 && rank_from_environment().rank < 0; }

/// True if this process calls so many operators that it is no launcher. Children of a waiting process may be its
/// data-loader workers.
bool computes(const char* range) {
  static constinit std::atomic<bool> does{false};
  if (does.load(std::memory_order_relaxed) || range != nullptr) return does.load(std::memory_order_relaxed);
  const bool many = operators_called.fetch_add(1, std::memory_order_relaxed) + 1 == kManyOperators;
  if (many && !inject::parent_waits() && !is_forked_child() && !will_join_group()) does = true;
  return does.load(std::memory_order_relaxed);
}

Activation retry() {
  const bool counts = operators_called.load(std::memory_order_relaxed) < kManyOperators;
  return !counts || inject::parent_waits() || is_forked_child() ? Activation::kRetryAtRange : Activation::kRetry;
}

}  // namespace

bool is_forked_child() { return getpid() != start_pid; }

void note_start() {
  start_pid = getpid();
  start_rank = rank_from_environment().rank;
}

Activation try_to_activate(const char* range) {
  if (decided.load(std::memory_order_relaxed)) return Activation::kDone;
  if (!session::note_use(session::Use::kTorch)) return Activation::kRetryAtRange;
  const bool is_no_launcher = computes(range);
  if (waits.load(std::memory_order_relaxed) && !makes_step(range) && !is_no_launcher) return retry();
  const Rank rank = rank_from_environment();
  if (!is_worker(rank)) {
    if (!is_no_launcher && waits_for_step(rank, range)) return retry();
    if (!inject::activate_by_environment(session::Use::kTorch, rank)) return Activation::kRetry;
  }
  decided.store(true, std::memory_order_relaxed);
  return Activation::kDone;
}

bool waits_for_group() {
  if (!will_join_group()) return false;
  if (decided.load(std::memory_order_relaxed) || step_ranges().empty()) return false;
  wait();
  return true;
}

void activate_as_member(int rank, int size) {
  Rank known = rank_from_environment();
  if (known.rank >= 0 && is_worker(known)) return;
  if (known.rank < 0) known = rank_from_program(rank, size, "torch.distributed");
  if (!session::note_use(session::Use::kTorch) || !decided.exchange(true))
    inject::activate(session::Use::kTorch, known, 0);
}

}  // namespace profshim::torch
