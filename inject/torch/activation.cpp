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
#include "inject/parent.h"
#include "profshim/base/glob.h"
#include "profshim/base/log.h"
#include "profshim/base/process/process_words.h"
#include "profshim/base/rank.h"
#include "profshim/base/text/number_text.h"
#include "profshim/python/stack.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

constinit std::atomic<bool> decided{false};
constinit std::atomic<bool> waits{false};
/// A process that only launches ranks calls fewer operators.
constexpr std::uint32_t kManyOperators = 1000;
constinit std::atomic<std::uint32_t> operators_called{0};
constinit std::atomic<bool> computes_much{false};
constinit std::atomic<bool> is_helper{false};

/// Activates a process that never got a rank, to report why nothing is recorded. A parent leaves the report
/// to its children.
void at_exit() {
  rusage children{};
  const bool has_no_children = getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0;
  if (has_no_children && !inject::is_forked() && process_words.is_known.load() && !decided.exchange(true))
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
  inject::tell_children_waiting();
  std::atexit(at_exit);
}

/// A process without a rank may get one from init_process_group(), or only launch the ranks.
bool waits_for_step(const Rank& rank, const char* range) {
  if (rank.rank >= 0) return false;
  if (step_ranges().empty() || makes_step(range)) return false;
  wait();
  return true;
}

/// True if WORLD_SIZE is above 1, and this process has no rank: init_process_group() will give it one.
bool will_join_group() { return number_in_environment("WORLD_SIZE") > 1 && rank_from_environment().rank < 0; }

/// True once this process has called so many operators that it is no launcher.
bool computes(const char* range) {
  if (computes_much.load(std::memory_order_relaxed) || range != nullptr) return computes_much.load();
  const bool many = operators_called.fetch_add(1, std::memory_order_relaxed) + 1 == kManyOperators;
  if (many && !will_join_group()) computes_much = true;
  return computes_much.load(std::memory_order_relaxed);
}

bool counts_operators() { return operators_called.load(std::memory_order_relaxed) < kManyOperators; }

/// Tells if this thread is in a worker that prepares data for others. A worker of a pool may also train: then it makes
/// steps.
python_stack::Runs look_for_worker() {
  static constexpr python_stack::Function kWorkers[] = {{"torch/utils/data/_utils/worker.py", "_worker_loop"},
                                                        {"multiprocessing/pool.py", "worker"},
                                                        {"concurrent/futures/process.py", "_process_worker"},
                                                        {"loky/process_executor.py", "_process_worker"}};
  const python_stack::Runs runs = python_stack::runs_any(kWorkers);
  if (runs == python_stack::Runs::kAny) is_helper = true;
  return runs;
}

void report_unrecorded(const Rank& rank) {
  log::line(
      LogLevel::kWarn,
      "process %d is not recorded: it has called %u operators of PyTorch and made no step, and has rank %d of its "
      "parent; if it is a rank, set %s in it to a rank of its own",
      getpid(), kManyOperators, rank.rank, rank.source.c_str());
}

/// True for a child that has called many operators, unless it is a helper, such as a data-loader worker.
bool works_alone(const Rank& rank) {
  if (is_helper.load(std::memory_order_relaxed) || !counts_operators() || !computes(nullptr)) return false;
  const python_stack::Runs runs = look_for_worker();
  if (runs == python_stack::Runs::kUnreadable) operators_called = kManyOperators - 1;  // the next one asks again
  if (runs == python_stack::Runs::kUnreadable || runs == python_stack::Runs::kAny) return false;
  if (rank.rank >= 0) report_unrecorded(rank);
  return rank.rank < 0;
}

/// A child of a process that records, or waits for its rank, and each child of a fork: it is a helper unless it has a
/// rank of its own, makes steps or works alone.
Activation try_in_child(const char* range) {
  if (range == nullptr && is_helper.load(std::memory_order_relaxed)) return Activation::kRetryAtRange;
  const Rank rank = rank_from_environment();
  const bool is_rank = !inject::is_rank_of_parent(rank) || (range != nullptr ? makes_step(range) : works_alone(rank));
  if (!is_rank) return counts_operators() ? Activation::kRetry : Activation::kRetryAtRange;
  if (!inject::activate_by_environment(session::Use::kTorch, rank)) return Activation::kRetry;
  decided.store(true, std::memory_order_relaxed);
  return Activation::kDone;
}

}  // namespace

bool leave_parents_activation() {
  decided = waits = computes_much = is_helper = false;
  operators_called = 0;
  const python_stack::Runs runs = look_for_worker();
  return runs == python_stack::Runs::kNone || runs == python_stack::Runs::kNoPython;
}

Activation try_to_activate(const char* range) {
  if (decided.load(std::memory_order_relaxed)) return Activation::kDone;
  if (!session::note_use(session::Use::kTorch)) return Activation::kRetryAtRange;
  if (inject::has_parent()) return try_in_child(range);
  const bool is_no_launcher = computes(range);
  const Activation retry = counts_operators() ? Activation::kRetry : Activation::kRetryAtRange;
  if (waits.load(std::memory_order_relaxed) && !makes_step(range) && !is_no_launcher) return retry;
  const Rank rank = rank_from_environment();
  if (!is_no_launcher && waits_for_step(rank, range)) return retry;
  if (!inject::activate_by_environment(session::Use::kTorch, rank)) return Activation::kRetry;
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
  if (!inject::know_process()) return;
  const Rank known = inject::rank_in_group(rank, size, "torch.distributed");
  if (!session::note_use(session::Use::kTorch) || !decided.exchange(true))
    inject::activate(session::Use::kTorch, known, 0);
}

}  // namespace profshim::torch
