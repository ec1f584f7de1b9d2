#include "dead_spools.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/log.h"
#include "profshim/base/threads/cpu_wait.h"
#include "profshim/write/recover.h"

namespace profshim::write {
namespace {

constexpr std::size_t kMostSpools = 4096;
// Without waits for a CPU, which may be long at the writer's niceness. The next process recovers the remaining spools.
constexpr std::int64_t kNoneAfter_ns = 20'000'000'000;
constexpr std::uint64_t kMostBytes = 256 << 20;

// The copy of a spool needs address space, which the job may need soon.
bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

std::int64_t now_without_waits_ns() {
  return monotonic_ns() - waited_for_cpu_ns(static_cast<pid_t>(syscall(SYS_gettid))).value_or(0);
}

}  // namespace

DeadSpools::DeadSpools(const WritePlan& plan, WindowQueue& queue, WrittenWindows& windows, std::uint64_t spare_bytes,
                       std::function<bool()> must_stop)
    : plan_(plan), queue_(queue), windows_(windows), must_stop_(std::move(must_stop)) {
  const std::string& own = plan.spool_path;
  if (address_space_is_limited()) return;
  const std::size_t slash = own.rfind('/');
  folder_ = slash == std::string::npos ? "/dev/shm" : own.substr(0, slash);
  names_ = spools_named_as_ours(folder_, kMostSpools);
  std::erase(names_, own);
  most_bytes_ = std::min({kMostBytes, plan.spec.limits.host_memory / 8, spare_bytes});
  until_ns_ = now_without_waits_ns() + kNoneAfter_ns;
}

RecoverOptions DeadSpools::options() {
  RecoverOptions options;
  options.most_copied = most_bytes_;
  options.give_up = must_stop_;
  options.on_window = [this](const std::string& folder, int rank, const run::ManifestWindow& window) {
    queue_.progress.fetch_add(1, std::memory_order_relaxed);
    // Same rank of the same run: its windows belong in our manifest.
    if (folder == plan_.folder && rank == plan_.rank.rank) windows_.add(window);
  };
  return options;
}

bool DeadSpools::has_time() const { return most_bytes_ > 0 && now_without_waits_ns() < until_ns_ && !must_stop_(); }

void DeadSpools::recover_next() {
  if (is_over_) return;
  while (next_ < names_.size() && has_time()) {
    const std::string name = names_[next_++];
    try {
      if (recover(name)) break;        // windows of this process go first
    } catch (const std::exception&) {  // no memory: the spools stay for `profshim recover`
      next_ = names_.size();
    }
  }
  if (next_ < names_.size() && has_time()) return;
  is_over_ = true;
  if (traces_ > 0) log_recovered_traces();
  if (!must_stop_()) remove_old_spools(folder_, spools_without_run(folder_, kMostSpools), realtime_ns());
}

// Returns true if traces were written.
bool DeadSpools::recover(const std::string& name) {
  // The log is of this run: other runs are none of its matters.
  const bool is_ours = run_id_of_spool(name) == plan_.run_id;
  std::vector<RecoverNote> notes;
  const RecoverOutcome outcome = recover_spool(name, options(), notes);
  for (const RecoverNote& note : notes) {
    if (is_ours && !note.file.empty() && traces_++ == 0) first_trace_ = note.file;
  }
  const bool failed = outcome == RecoverOutcome::kFailed && !notes.empty() && !must_stop_();
  if (failed && is_ours && plan_.is_first_selected) {
    log::line(LogLevel::kWarn, "cannot recover the events of a killed rank of this run: %s", notes.back().text.c_str());
  }
  return outcome == RecoverOutcome::kRecovered;
}

void DeadSpools::log_recovered_traces() {
  log::line(LogLevel::kWarn, "recovered %zu trace%s of killed ranks of this run from memory (first: %s)", traces_,
            traces_ == 1 ? "" : "s", first_trace_.c_str());
}

}  // namespace profshim::write
