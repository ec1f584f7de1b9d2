#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "profshim/base/rank.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/run_folder.h"
#include "profshim/write/finish_command.h"
#include "profshim/write/retention.h"
#include "run.h"

namespace profshim::cli {
namespace {

using run::Manifest;
using run::ManifestWindow;

std::vector<ManifestWindow> missing_windows(const Spec& spec, const Manifest& manifest) {
  std::vector<ManifestWindow> missing;
  if (!spec.finish.after_each_window && !manifest.finish.empty()) return missing;
  for (const ManifestWindow& window : manifest.windows) {
    const bool is_missing = !spec.finish.after_each_window || window.awaits_finish;
    if (is_missing && !window.file.empty() && window.status == "written") missing.push_back(window);
  }
  return missing;
}

std::string run_command(const Spec& spec, const std::string& folder, const Manifest& manifest,
                        const std::vector<ManifestWindow>& windows) {
  std::vector<std::string> files;
  for (const ManifestWindow& window : windows) {
    for (std::string& file : run::files_of(window)) files.push_back(std::move(file));
  }
  const std::string status = run::has_last_file(manifest) ? manifest.state : "killed";
  write::FinishCommand command;
  const std::string why_not = command.start(spec, folder, manifest, status, files, write::finish_environment(environ));
  if (!why_not.empty()) return "failed: " + why_not;
  for (;;) {
    if (const auto outcome = command.poll()) return *outcome;
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

void run_for_rank(const Spec& spec, const std::string& folder, Manifest& manifest) {
  const std::vector<ManifestWindow> windows = missing_windows(spec, manifest);
  if (windows.empty()) return;
  manifest.finish = run_command(spec, folder, manifest, windows);
  const bool failed = manifest.finish.starts_with("failed:");
  if (failed) {
    std::fprintf(stderr, "profshim: finish.command %s; its output: %s/%s\n", printable(manifest.finish).c_str(),
                 printable(folder).c_str(), write::finish_log_name(manifest.rank.rank).c_str());
  }
  for (ManifestWindow& window : manifest.windows) window.awaits_finish = false;
  const bool all_go = !failed && spec.output.traces_to_keep == 0;
  if (all_go) {
    std::erase_if(manifest.windows, [&windows](const ManifestWindow& window) {
      return std::any_of(windows.begin(), windows.end(), [&](const auto& one) { return one.file == window.file; });
    });
    manifest.removed_traces += static_cast<std::int64_t>(windows.size());
  }
  run::write_manifest(folder, manifest);
  if (all_go) write::remove_files(folder, windows);
}

}  // namespace

void run_missing_finish(const Spec& spec, const std::string& folder, std::int64_t began_ns) {
  const int own_rank = rank_from_environment().rank;
  for (Manifest& manifest : run::read_manifests(folder)) {
    const bool is_ours = own_rank < 0 || manifest.rank.rank == own_rank;
    if (!is_ours || manifest.updated_ns < began_ns || !write::runs_finish_command(spec, manifest.rank)) continue;
    if (!run::is_claimed(folder, manifest.rank.rank)) run_for_rank(spec, folder, manifest);
  }
}

}  // namespace profshim::cli
