#include "closing_report.h"

#include <algorithm>

#include "profshim/base/size_text.h"
#include "profshim/output/once_per_job.h"
#include "profshim/output/publish.h"
#include "profshim/trace/completeness.h"
#include "session/spool_header.h"
#include "unseen_calls.h"

namespace profshim::session {
namespace {

using Number = unsigned long long;

/// True on the one rank that logs `matter` for all ranks that see it.
bool speaks_for_job(const State& s, const char* matter) {
  return s.rank.world_size == 1 || output::claim_job_line(s.folder, matter, recorder::header().base_time_ns);
}

std::string where_others_are(const State& s) {
  return s.rank.world_size == 1 ? std::string() : "; all ranks:  profshim ls " + s.folder;
}

std::string chosen_source(const State& s) {
  const StepRule& rule = *s.rule.load();
  const StepPattern* const pattern = rule.chosen_pattern();
  std::string text = source_text(s);
  const bool is_of_torch = pattern != nullptr && (pattern->torch_only || rule.locked_kind.load() == MarkerKind::kTorch);
  if (pattern != nullptr) text = (is_of_torch ? "torch \"" : "nvtx \"") + pattern->pattern + "\"";
  if (rule.is_found() && rule.every > 1) text += ", every " + std::to_string(rule.every);
  return text;
}

std::string confidence() {
  const StringId confidence = recorder::header().step_confidence;
  return confidence != 0 ? ", confidence " + std::string(recorder::text_of(confidence)) : "";
}

const char* why_no_window(const State& s) {
  if (recorder::header().windows.load() == 0) return "no window was opened";
  if (!s.spec.save_on_exit) return "the window was open when the job ended (schedule.on_exit = \"discard\")";
  return "the only calls seen were those that start and end MPI";
}

void log_no_steps(const State& s) {
  if (s.spec.steps.source == StepSource::kNone) {
    log::line(LogLevel::kWarn, "nothing was recorded: %s", why_no_window(s));
    return;
  }
  if (s.finder == nullptr) {
    log::line(LogLevel::kWarn,
              "no steps found: nothing matched %s, nothing was recorded; check steps.source and steps.pattern",
              source_text(s).c_str());
    return;
  }
  log::line(
      LogLevel::kWarn,
      "no steps found: no call of a known library was seen, nothing was recorded; set steps.source (symbol, time, "
      "or none for the whole run)");
}

/// Returns how much a step's number exceeds its place in the schedule; 0 if equal or unknown.
std::int64_t numbers_from(const State& s, std::uint64_t steps) {
  if (s.spec.steps.absolute || s.spec.schedule_per_epoch) return 0;
  const std::int64_t first = s.steps.first_number.load(), last = s.steps.last_number.load();
  return last - first == static_cast<std::int64_t>(steps) - 1 ? first : 0;
}

/// Suggests steps before the last, which may have been incomplete.
std::string suggested_steps(const State& s) {
  const std::int64_t seen = s.steps.last.load() - s.steps.first.load() + 1;
  if (seen < 2) return "at least 2 steps are needed";
  const std::int64_t last = std::min<std::int64_t>(4, seen - 2);
  const std::int64_t first = std::min<std::int64_t>(2, (last + 1) / 2);
  const std::int64_t from = s.steps.first.load();
  const std::string list = std::to_string(from + first) + (first == last ? "" : "-" + std::to_string(from + last));
  return "this would have recorded:  PROFSHIM_STEPS=" + list;
}

void log_no_window(const State& s, std::uint64_t steps) {
  const std::int64_t offset = numbers_from(s, steps);
  const std::int64_t first_seen = s.steps.first.load();
  const auto next = s.spec.schedule.next_recorded(s.spec.steps.absolute ? first_seen : 0);
  std::string seen = std::to_string(steps) + (steps == 1 ? " step" : " steps") + " seen";
  if (offset + first_seen != 0) {
    seen += " from step " + std::to_string(offset + first_seen) + " on";
  }
  const std::string window = next ? "first window at step " + std::to_string(offset + *next)
                                  : std::string("the schedule's last window is before these steps");
  log::line(LogLevel::kWarn, "no window was reached: %s, %s; %s", seen.c_str(), window.c_str(),
            suggested_steps(s).c_str());
}

void log_nothing_written(const State& s) {
  const std::uint64_t steps = recorder::header().steps_seen.load();
  if (steps == 0) return log_no_steps(s);
  if (s.windows_opened.load() == 0) return log_no_window(s, steps);
  log::line(LogLevel::kWarn, "nothing was recorded: the job ended inside its window%s; %s",
            s.spec.save_on_exit ? " before it held a complete step" : " (schedule.on_exit = \"discard\")",
            suggested_steps(s).c_str());
}

void log_written_traces(State& s) {
  if (!s.first_selected) return;
  const std::uint64_t written = s.written.load();
  if (written == 0) {
    if (!s.records_steps) return;
    const bool said = s.failed.load() > 0 || s.manifest.counts.all_lost() > 0;
    if (!said) log_nothing_written(s);
    return;
  }
  const std::uint64_t seen = recorder::header().steps_seen.load();
  const char* const until = s.rule.load()->of_operators && s.schedule_over.load() ? " until the last window" : "";
  const std::string steps =
      s.finder != nullptr && seen == 0
          ? "no loop found, so without steps: set steps.source to choose them"
          : "steps from " + chosen_source(s) + ", " + std::to_string(seen) + " seen" + until + confidence();
  const std::uint64_t removed = s.traces_removed.load(), kept = written - std::min(written, removed);
  const std::string first = kept > 0 ? "first: " + s.first_file + "; " : "";
  const std::string gone = removed > 0 ? std::to_string(removed) + " removed; " : "";
  log::line(LogLevel::kWarn, "%llu trace%s in %s (%s%s%s)", Number{kept}, kept == 1 ? "" : "s", s.folder.c_str(),
            first.c_str(), gone.c_str(), steps.c_str());
  if (const StepRule& rule = *s.rule.load(); seen > 0 && std::string_view(rule.confidence) == "low") {
    log::line(LogLevel::kWarn,
              "the steps are uncertain: if they are right, keep them by  PROFSHIM_SET='%s'  ; to choose others, run  "
              "profshim explain --steps %s",
              rule.settings().c_str(), (s.folder + "/" + s.first_file).c_str());
  }
  if (const std::size_t stepless = s.windows_without_step.load(); stepless > 0) {
    log::line(
        LogLevel::kWarn,
        "%zu of %llu windows hold no complete step: the job ended, or a limit closed them, within their first step",
        stepless, Number{s.windows_done.load()});
  }
  if (s.recording_over.load()) {
    log::line(LogLevel::kWarn, "limits.total_traces = %lld was reached: later windows were not recorded",
              static_cast<long long>(s.spec.limits.total_traces));
  }
}

void log_unwritten_windows(const State& s) {
  const std::uint64_t left = s.windows_waiting.load();
  if (left == 0 || !speaks_for_job(s, "unwritten")) return;
  const std::string kept = recorder::path().empty() ? "their events are lost" : "run  profshim recover " + s.folder;
  log::line(LogLevel::kWarn,
            "%llu of %llu windows were not written within output.exit_seconds: %s; output.write_all = true waits for "
            "all windows%s",
            Number{left}, Number{s.windows_opened.load()}, kept.c_str(), where_others_are(s).c_str());
}

void log_lost_windows(const State& s) {
  const output::WindowCounts& counts = s.manifest.counts;
  const bool is_said = counts.written == 0 && counts.all_lost() == counts.asked;  // by DiskWatch
  const std::string lost = counts.loss_text();
  if (!lost.empty() && !is_said && speaks_for_job(s, "lost")) {
    log::line(LogLevel::kWarn, "%s%s", lost.c_str(), where_others_are(s).c_str());
  }
}

void log_other_losses(const State& s) {
  if (s.ended.other_losses.empty() || !speaks_for_job(s, "incomplete")) return;
  const std::vector<std::string> sentences(s.ended.other_losses.begin(), s.ended.other_losses.end());
  log::line(LogLevel::kWarn, "%llu of %llu windows are incomplete: %s%s", Number{s.ended.incomplete},
            Number{s.windows_done.load()}, missing_text(sentences).c_str(), where_others_are(s).c_str());
}

void log_dropped_events(const State& s) {
  const std::uint64_t cut_short = s.ended.closed_early, windows = s.windows_done.load(), dropped = s.ended.dropped;
  // log_full_tables() reports lost open calls and events of unregistered threads.
  const spool::SpoolHeader& h = recorder::header();
  const std::uint64_t said_elsewhere = h.open_calls_lost.load() + spool::threadless_events(h);
  if ((cut_short == 0 && dropped <= said_elsewhere) || !speaks_for_job(s, "windows")) return;
  if (cut_short == 0) {
    log::line(LogLevel::kWarn, "%llu events dropped: see \"dropped_events\" in the traces, and [limits] in the spec%s",
              Number{dropped}, where_others_are(s).c_str());
    return;
  }
  log::line(LogLevel::kWarn,
            "%llu of %llu windows closed early, %llu events dropped: see \"limit\" and "
            "\"dropped_events\" in the traces, and [limits] in the spec%s",
            Number{cut_short}, Number{windows}, Number{dropped}, where_others_are(s).c_str());
}

void log_full_tables(const State& s) {
  const spool::SpoolHeader& h = recorder::header();
  struct Loss {
    std::uint64_t count;
    const char *matter, *sentence;
  };
  const Loss losses[] = {
      {h.strings_lost.load(), "names",
       "names of ranges, kernels or files are missing in the traces: the memory for names is full; raise "
       "limits.host_memory"},
      {h.open_calls_lost.load(), "calls",
       "calls and ranges were not recorded: too many were open at once on one thread"},
      {h.pending_lost.load(), "pending",
       "non-blocking operations or start/end ranges were not recorded: too many were pending at once"},
      {h.definitions_lost.load(), "definitions",
       "communicators, types, streams or other metadata are not described in the traces: profshim's table for them is "
       "full"},
  };
  for (const Loss& loss : losses) {
    if (loss.count == 0 || !speaks_for_job(s, loss.matter)) continue;
    log::line(LogLevel::kWarn, "%llu %s%s", Number{loss.count}, loss.sentence, where_others_are(s).c_str());
  }
  const std::string threads = spool::threads_lost_sentence(h);
  if (!threads.empty() && speaks_for_job(s, "threads")) {
    log::line(LogLevel::kWarn, "%s%s", threads.c_str(), where_others_are(s).c_str());
  }
}

}  // namespace

void EndedWindows::note(const output::ManifestWindow& window) {
  closed_early += window.truncated ? 1 : 0;
  incomplete += window.complete ? 0 : 1;
  dropped += window.dropped;
  constexpr std::size_t kMost = 20;
  for (const std::string& loss : window.other_losses) {
    if (other_losses.size() < kMost) other_losses.insert(loss);
  }
}

void log_outcome(State& s) {
  if (log::level() < LogLevel::kWarn) return;
  for (const auto& phase : s.phase_windows) {
    const std::string why = phase != nullptr ? phase->why_no_window() : "";
    if (!why.empty() && s.first_selected) log::line(LogLevel::kWarn, "%s", why.c_str());
  }
  log_written_traces(s);
  if (!s.last_table.empty()) log::text(LogLevel::kWarn, s.last_table);
  log_unwritten_windows(s);
  log_lost_windows(s);
  log_dropped_events(s);
  log_other_losses(s);
  log_full_tables(s);
  for (const UnseenCalls& unseen : unseen_calls()) {
    if (speaks_for_job(s, unseen.matter.c_str())) log::line(LogLevel::kWarn, "%s", unseen.sentence.c_str());
  }
}

void check_disk(State& s) {
  std::uint64_t free_bytes = 0;
  s.disk_is_full.store(!output::enough_space(s.folder, s.spec.limits.disk_free, free_bytes));
}

void DiskWatch::check(bool soon) {
  constexpr std::int64_t kEvery_ns = 10'000'000'000;
  const std::int64_t now = monotonic_ns();
  if ((soon && !was_soon_) || now - checked_ns_ > kEvery_ns) {
    check_disk(s_);
    checked_ns_ = now;
  }
  was_soon_ = soon;
  constexpr auto kDiskFull = static_cast<std::size_t>(LostWindow::kDiskFull);
  if (said_ || recorder::header().windows_lost[kDiskFull].load() == 0) return;
  said_ = true;
  std::uint64_t free_bytes = 0;
  output::enough_space(s_.folder, s_.spec.limits.disk_free, free_bytes);
  const std::string sentence = "no window is opened: only " + format_size(free_bytes) + " free in " + s_.folder +
                               ", limits.disk_free keeps " + format_size(s_.spec.limits.disk_free);
  recorder::problem("output", sentence);
  if (!speaks_for_job(s_, "disk")) return;
  log::line(LogLevel::kWarn,
            "%s; PROFSHIM_FOLDER=PATH chooses another disk, PROFSHIM_SET=limits.disk_free=SIZE reserves less",
            sentence.c_str());
}

void log_window_failed(State& s, const output::ManifestWindow& window) {
  if (s.failed.fetch_add(1) > 0 || !speaks_for_job(s, "failed")) return;
  const std::string kept = recorder::path().empty()
                               ? "; its events are lost"
                               : "; its events are kept: when the job has ended, run  profshim recover " + s.folder;
  log::line(LogLevel::kWarn, "window %lld could not be written into %s: %s%s", static_cast<long long>(window.window),
            s.folder.c_str(), window.status.c_str() + 8, kept.c_str());
}

}  // namespace profshim::session
