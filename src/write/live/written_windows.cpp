#include "written_windows.h"

#include <algorithm>
#include <utility>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/write/finish_command.h"
#include "profshim/write/retention.h"

namespace profshim::write {

using run::ManifestWindow;

WrittenWindows::WrittenWindows(const WritePlan& plan, const spool::View& view) : plan_(plan), view_(view) {
  manifest_ = run::first_manifest(view);
  manifest_.rank = plan.rank;
  manifest_.run_id = plan.run_id;
  manifest_.role = plan.spec.process.role;
  manifest_.spec_hash = plan.spec.hash();
  manifest_.spool = plan.spool_path;
  run::Manifest earlier;
  const Descriptor folder = open_folder(plan.folder);
  const std::string name = "manifest-rank" + std::to_string(plan.rank.rank) + ".json";
  if (!run::read_manifest(name, earlier, folder.get()) || earlier.run_id != plan.run_id) return;
  manifest_.windows = std::move(earlier.windows);
  for (run::ManifestWindow& window : manifest_.windows) window.is_earlier = true;
  manifest_.removed_traces = earlier.removed_traces;
}

void WrittenWindows::add(run::ManifestWindow window) {
  // With output.overwrite = true, it may have replaced the trace of an earlier process.
  std::erase_if(manifest_.windows,
                [&window](const auto& known) { return !known.file.empty() && known.file == window.file; });
  window.awaits_finish =
      window.status == "written" && plan_.spec.finish.after_each_window && runs_finish_command(plan_.spec, plan_.rank);
  if (!window.recovered) window.attempt = std::max(0, plan_.attempt);
  manifest_.windows.push_back(std::move(window));
}

void WrittenWindows::remove_old() { finish_removal(take_old(plan_.spec, manifest_.windows)); }

void WrittenWindows::remove(const std::vector<run::ManifestWindow>& gone) {
  std::erase_if(manifest_.windows, [&gone](const run::ManifestWindow& window) {
    return std::any_of(gone.begin(), gone.end(), [&window](const auto& one) { return one.file == window.file; });
  });
  finish_removal(gone);
}

void WrittenWindows::finish_removal(const std::vector<run::ManifestWindow>& gone) {
  if (gone.empty()) return;
  for (const run::ManifestWindow& window : gone) {
    ++manifest_.removed_traces;
    if (!window.is_earlier) ++ended_.removed;
  }
  manifest_.counts.update(view_.header());
  save();
  remove_files(plan_.folder, gone);
}

void WrittenWindows::count(const run::ManifestWindow& window) {
  manifest_.counts.add(window);
  if (window.status == "written") ++ended_.written;
  if (run::has_failed(window)) ++ended_.failed;
  ended_.closed_early += window.truncated ? 1 : 0;
  ended_.incomplete += window.complete ? 0 : 1;
  ended_.dropped += window.dropped;
  constexpr std::size_t kMost = 20;
  for (const std::string& loss : window.other_losses) {
    if (ended_.other_losses.size() < kMost) ended_.other_losses.insert(loss);
  }
}

void WrittenWindows::save() { run::write_manifest(plan_.folder, manifest_); }

void WrittenWindows::save(const char* state) {
  const std::int64_t began_ns = monotonic_ns();
  const spool::SpoolHeader& h = view_.header();
  manifest_.state = state;
  manifest_.counts.update(h);
  manifest_.steps_seen = static_cast<std::int64_t>(h.steps_seen.load());
  manifest_.updated_ns = realtime_ns();
  manifest_.problems.clear();
  for (const spool::Definition* const d : view_.definitions()) {
    if (d->kind.load(std::memory_order_acquire) == spool::DefinitionKind::kProblem) {
      manifest_.problems.emplace_back(view_.string(d->name));
    }
  }
  if (const std::string lost = spool::threads_lost_sentence(h); !lost.empty()) manifest_.problems.push_back(lost);
  save();
  saving_ns_ = monotonic_ns() - began_ns;
}

Outcome WrittenWindows::outcome() const {
  Outcome outcome = ended_;
  const run::WindowCounts& counts = manifest_.counts;
  outcome.lost_windows = counts.loss_text();
  outcome.is_any_lost = counts.all_lost() > 0;
  outcome.is_all_lost = counts.written == 0 && counts.all_lost() == counts.asked;
  for (const run::ManifestWindow& window : manifest_.windows) {
    const bool is_ours = !window.is_earlier && !window.recovered && window.status == "written";
    if (is_ours && outcome.first_file.empty()) outcome.first_file = window.file;
  }
  return outcome;
}

}  // namespace profshim::write
