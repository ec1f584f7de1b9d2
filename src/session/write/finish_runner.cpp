#include "finish_runner.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "profshim/base/clock.h"
#include "profshim/output/ranks_of_host.h"
#include "session/end_recording.h"
#include "written_windows.h"

namespace profshim::session {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kOtherRanks_ns = 10 * kSecond_ns;

bool has_trace(const output::ManifestWindow& window) { return !window.file.empty() && window.status == "written"; }

}  // namespace

FinishRunner::FinishRunner(State& s) : s_(s), environment_(output::finish_environment(environ)) {}

void FinishRunner::tick() {
  if (!s_.spec.finish.after_each_window) return;
  if (command_.is_running()) {
    if (const auto outcome = command_.poll()) note_outcome(*outcome);
  }
  const auto& windows = s_.manifest.windows;
  const bool some_wait =
      std::any_of(windows.begin(), windows.end(), [](const auto& window) { return window.awaits_finish; });
  if (!command_.is_running() && some_wait) start("running");
}

void FinishRunner::at_end(End how, const ending_signals::Blocked& blocked) {
  // The command of an earlier window ends before the last one begins.
  if (command_.is_running() && !wait(how, blocked)) return;
  const auto& windows = s_.manifest.windows;
  const bool is_wanted = std::any_of(windows.begin(), windows.end(), [this](const output::ManifestWindow& window) {
    return s_.spec.finish.after_each_window ? window.awaits_finish : has_trace(window);
  });
  if (!is_wanted) return;
  if (!s_.spec.finish.ranks.empty() && how != End::kReplaced) {
    output::RanksOfHost others(s_.folder, s_.manifest);
    wait_while(kOtherRanks_ns, how, blocked, [&] { return others.some_still_write(); });
  }
  start("finished");
  if (command_.is_running() && how != End::kReplaced) wait(how, blocked);
}

void FinishRunner::start(const char* status) {
  given_.clear();
  std::vector<std::string> files;
  for (output::ManifestWindow& window : s_.manifest.windows) {
    if (!has_trace(window) || (s_.spec.finish.after_each_window && !window.awaits_finish)) continue;
    given_.push_back(window.file);
    for (std::string& file : output::files_of(window)) files.push_back(std::move(file));
  }
  s_.manifest.finish = "running";
  write_manifest();
  const std::string why_not = command_.start(s_.spec, s_.folder, s_.manifest, status, files, environment_);
  if (!why_not.empty()) note_outcome("failed: " + why_not);
}

void FinishRunner::note_outcome(const std::string& outcome) {
  // An earlier failure stays: its files may have reached nobody.
  const bool failed = outcome.starts_with("failed:");
  if (failed || !s_.finish_failed) s_.manifest.finish = outcome;
  s_.finish_failed = s_.finish_failed || failed;
  if (failed) {
    log::line(LogLevel::kWarn, "finish.command %s; its output: %s/%s", outcome.c_str(), s_.folder.c_str(),
              output::finish_log_name(s_.rank.rank).c_str());
  }
  std::vector<output::ManifestWindow> gone;
  for (output::ManifestWindow& window : s_.manifest.windows) {
    if (std::find(given_.begin(), given_.end(), window.file) == given_.end()) continue;
    window.awaits_finish = false;
    if (!failed && s_.spec.output.traces_to_keep == 0) gone.push_back(window);
  }
  given_.clear();
  remove_windows(s_, gone);
  remove_old_windows(s_);
  write_manifest();
}

bool FinishRunner::wait(End how, const ending_signals::Blocked& blocked) {
  const std::int64_t most_ns = s_.spec.finish.timeout_seconds * kSecond_ns + kSecond_ns;
  return wait_while(most_ns, how, blocked, [this] {
    const auto outcome = command_.poll();
    if (outcome) note_outcome(*outcome);
    return !outcome;
  });
}

template <typename Condition>
bool FinishRunner::wait_while(std::int64_t most_ns, End how, const ending_signals::Blocked& blocked,
                              Condition condition) {
  const std::int64_t began = monotonic_ns();
  while (condition()) {
    blocked.look();
    const std::int64_t now = monotonic_ns();
    const bool was_signaled = ending_signals::arrived() != 0;
    const std::int64_t from = was_signaled ? ending_signals::arrived_at_ns() : began;
    const bool is_normal = how == End::kNormal && !was_signaled;
    if (now - from > (is_normal ? most_ns : std::min(most_ns, exit_ns(s_)))) return false;
    s_.progress_count.fetch_add(1, std::memory_order_relaxed);
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

void FinishRunner::write_manifest() { output::write_manifest(s_.folder, s_.manifest); }

}  // namespace profshim::session
