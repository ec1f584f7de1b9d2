#include "finish_runner.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "profshim/base/clock.h"
#include "profshim/base/log.h"
#include "profshim/run/manifest.h"

namespace profshim::write {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kOtherRanks_ns = 10 * kSecond_ns;

bool has_trace(const run::ManifestWindow& window) { return !window.file.empty() && window.status == "written"; }

}  // namespace

FinishRunner::FinishRunner(const WritePlan& plan, WindowQueue& queue, WrittenWindows& windows)
    : plan_(plan),
      queue_(queue),
      windows_(windows),
      is_wanted_(runs_finish_command(plan.spec, plan.rank)),
      environment_(is_wanted_ ? finish_environment(environ) : std::vector<std::string>()) {}

void FinishRunner::tick() {
  if (!is_wanted_ || !plan_.spec.finish.after_each_window) return;
  if (command_.is_running()) {
    if (const auto outcome = command_.poll()) note_outcome(*outcome);
  }
  const auto& windows = windows_.all();
  const bool some_wait =
      std::any_of(windows.begin(), windows.end(), [](const auto& window) { return window.awaits_finish; });
  if (!command_.is_running() && some_wait) start("running");
}

void FinishRunner::at_end(bool waits, const MayWait& may_wait) {
  if (!is_wanted_) return;
  // The command of an earlier window ends before the last one begins.
  if (command_.is_running() && !wait(may_wait)) return;
  const auto& windows = windows_.all();
  const bool is_wanted = std::any_of(windows.begin(), windows.end(), [this](const run::ManifestWindow& window) {
    return plan_.spec.finish.after_each_window ? window.awaits_finish : has_trace(window);
  });
  if (!is_wanted) return;
  if (!plan_.spec.finish.ranks.empty() && waits) {
    run::RanksOfHost others(plan_.folder, windows_.manifest());
    wait_while(kOtherRanks_ns, may_wait, [&] { return others.some_still_write(); });
  }
  start("finished");
  if (command_.is_running() && waits) wait(may_wait);
}

void FinishRunner::start(const char* status) {
  given_.clear();
  std::vector<std::string> files;
  for (const run::ManifestWindow& window : windows_.all()) {
    if (!has_trace(window) || (plan_.spec.finish.after_each_window && !window.awaits_finish)) continue;
    given_.push_back(window.file);
    for (std::string& file : run::files_of(window)) files.push_back(std::move(file));
  }
  windows_.set_finish("running");
  windows_.save();
  const std::string why_not =
      command_.start(plan_.spec, plan_.folder, windows_.manifest(), status, files, environment_);
  if (!why_not.empty()) note_outcome("failed: " + why_not);
}

void FinishRunner::note_outcome(const std::string& outcome) {
  // An earlier failure stays: its files may have reached nobody.
  const bool failed = outcome.starts_with("failed:");
  if (failed || !has_failed_) windows_.set_finish(outcome);
  has_failed_ = has_failed_ || failed;
  if (failed) {
    log::line(LogLevel::kWarn, "finish.command %s; its output: %s/%s", outcome.c_str(), plan_.folder.c_str(),
              finish_log_name(plan_.rank.rank).c_str());
  }
  std::vector<run::ManifestWindow> gone;
  for (run::ManifestWindow& window : windows_.all()) {
    if (std::find(given_.begin(), given_.end(), window.file) == given_.end()) continue;
    window.awaits_finish = false;
    if (!failed && plan_.spec.output.traces_to_keep == 0) gone.push_back(window);
  }
  given_.clear();
  windows_.remove(gone);
  windows_.remove_old();
  windows_.save();
}

bool FinishRunner::wait(const MayWait& may_wait) {
  const std::int64_t most_ns = plan_.spec.finish.timeout_seconds * kSecond_ns + kSecond_ns;
  return wait_while(most_ns, may_wait, [this] {
    const auto outcome = command_.poll();
    if (outcome) note_outcome(*outcome);
    return !outcome;
  });
}

template <typename Condition>
bool FinishRunner::wait_while(std::int64_t most_ns, const MayWait& may_wait, Condition condition) {
  const std::int64_t began = monotonic_ns();
  while (condition()) {
    if (!may_wait(began, most_ns)) return false;
    queue_.progress.fetch_add(1, std::memory_order_relaxed);
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace profshim::write
