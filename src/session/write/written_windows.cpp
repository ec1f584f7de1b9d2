#include "written_windows.h"

#include <algorithm>
#include <utility>

#include "profshim/output/retention.h"

namespace profshim::session {
namespace {

void finish_removal(State& s, const std::vector<output::ManifestWindow>& gone) {
  if (gone.empty()) return;
  for (const output::ManifestWindow& window : gone) {
    ++s.manifest.removed_traces;
    if (!window.is_earlier) s.traces_removed.fetch_add(1);
  }
  s.manifest.counts.update(recorder::header());
  output::write_manifest(s.folder, s.manifest);
  output::remove_files(s.folder, gone);
  const std::lock_guard lock(s.mutex);
  s.first_file.clear();
  for (const output::ManifestWindow& window : s.manifest.windows) {
    if (!window.is_earlier && window.status == "written" && s.first_file.empty()) s.first_file = window.file;
  }
}

}  // namespace

void add_window(State& s, output::ManifestWindow window) {
  // With output.overwrite = true, it may have replaced the trace of an earlier process.
  std::erase_if(s.manifest.windows,
                [&window](const auto& known) { return !known.file.empty() && known.file == window.file; });
  window.awaits_finish = s.finish != nullptr && s.spec.finish.after_each_window && window.status == "written";
  if (!window.recovered) window.attempt = std::max(0, s.attempt);
  s.manifest.windows.push_back(std::move(window));
}

void remove_old_windows(State& s) { finish_removal(s, output::take_old(s.spec, s.manifest.windows)); }

void remove_windows(State& s, const std::vector<output::ManifestWindow>& gone) {
  std::erase_if(s.manifest.windows, [&gone](const output::ManifestWindow& window) {
    return std::any_of(gone.begin(), gone.end(), [&window](const auto& one) { return one.file == window.file; });
  });
  finish_removal(s, gone);
}

}  // namespace profshim::session
