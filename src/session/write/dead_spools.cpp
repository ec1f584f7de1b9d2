#include "dead_spools.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "profshim/base/safe_files.h"
#include "profshim/output/recover.h"
#include "profshim/recorder_control.h"
#include "written_windows.h"

namespace profshim::session {
namespace {

constexpr std::size_t kMostSpools = 4096;
constexpr std::int64_t kNoneAfter_ns = 20'000'000'000;  // the next process recovers the remaining spools
constexpr std::uint64_t kMostBytes = 256 << 20;

// The copy of a spool needs address space, which the job may need soon.
bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

// Another rank may be creating the spool: its header is still empty.
bool is_new(const std::string& path) {
  constexpr std::int64_t kNew_s = 60;
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && realtime_ns() / 1'000'000'000 - s.st_mtim.tv_sec < kNew_s;
}

}  // namespace

DeadSpools::DeadSpools(State& state) : s_(state) {
  const std::string& own = recorder::path();
  if (address_space_is_limited()) return;
  const std::size_t slash = own.rfind('/');
  const std::string folder = slash == std::string::npos ? "/dev/shm" : own.substr(0, slash);
  std::size_t foreign = 0;
  names_ = output::spools_named_as_ours(folder, kMostSpools, foreign);
  std::erase(names_, own);
  if (foreign > 0 && s_.first_selected) {
    log::line(
        LogLevel::kWarn,
        "%s holds files that are named like this user's buffer files (profshim-%u-*.spool) but belong to another user: "
        "they are not recovered",
        folder.c_str(), static_cast<unsigned>(getuid()));
  }
  most_bytes_ = std::min({kMostBytes, s_.spec.limits.host_memory / 8, s_.room->now(0, 0).bytes});
  until_ns_ = monotonic_ns() + kNoneAfter_ns;
}

bool DeadSpools::must_stop() const {
  std::lock_guard lock(s_.mutex);
  return s_.stop;
}

output::RecoverOptions DeadSpools::options() {
  output::RecoverOptions options;
  options.most_copied = most_bytes_;
  options.remove_orphans = true;
  options.give_up = [this] { return must_stop(); };
  options.on_window = [this](const std::string& folder, int rank, const output::ManifestWindow& window) {
    s_.progress_count.fetch_add(1, std::memory_order_relaxed);
    // Same rank of the same run: its windows belong in our manifest.
    if (folder == s_.folder && rank == s_.rank.rank) add_window(s_, window);
  };
  return options;
}

void DeadSpools::recover_next() {
  while (next_ < names_.size() && most_bytes_ > 0 && monotonic_ns() < until_ns_ && !must_stop()) {
    const std::string name = names_[next_++];
    std::vector<output::RecoverNote> notes;
    output::RecoverOutcome outcome = output::RecoverOutcome::kFailed;
    try {
      outcome = output::recover_spool(name, options(), notes);
    } catch (const std::exception&) {  // no memory: the spools stay for `profshim recover`
      next_ = names_.size();
    }
    for (const output::RecoverNote& note : notes) {
      if (!note.file.empty() && traces_++ == 0) first_trace_ = note.file;
    }
    const bool failed = outcome == output::RecoverOutcome::kFailed && !notes.empty() && !must_stop();
    if (failed && s_.first_selected && !is_new(name)) {
      log::line(LogLevel::kWarn, "cannot recover profshim's buffer file of a killed job: %s",
                notes.back().text.c_str());
    }
    if (outcome == output::RecoverOutcome::kRecovered) break;  // windows of this process go first
  }
  if (next_ == names_.size() && traces_ > 0) log_recovered_traces();
}

void DeadSpools::log_recovered_traces() {
  log::line(LogLevel::kWarn, "recovered %zu trace%s of killed jobs from memory (first: %s)", traces_,
            traces_ == 1 ? "" : "s", first_trace_.c_str());
  traces_ = 0;
}

}  // namespace profshim::session
