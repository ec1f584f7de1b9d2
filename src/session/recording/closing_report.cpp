#include <algorithm>
#include <mutex>

#include "profshim/recorder.h"
#include "profshim/recorder_control.h"
#include "profshim/run/once_per_job.h"
#include "profshim/session.h"
#include "profshim/spool/losses.h"
#include "profshim/trace/completeness.h"
#include "stages.h"

namespace profshim::session {
namespace {

struct Reported {
  std::mutex mutex;
  std::vector<UnseenCalls> all;
};
Reported& reported() {
  static auto& instance = *new Reported;
  return instance;
}

}  // namespace

void report_unseen_calls(const char* matter, const char* sentence) {
  recorder::problem(matter, sentence);
  const std::lock_guard lock(reported().mutex);
  auto& all = reported().all;
  if (std::none_of(all.begin(), all.end(), [&](const UnseenCalls& one) { return one.matter == matter; })) {
    all.push_back({matter, sentence});
  }
}

std::vector<UnseenCalls> unseen_calls() {
  const std::lock_guard lock(reported().mutex);
  return reported().all;
}

namespace {

using Number = unsigned long long;

/// True on the one rank that logs `matter` for all ranks that see it.
bool speaks_for_job(const Recording& r, const char* matter) {
  return run::speaks_for_job(r.plan.rank, r.plan.folder, matter, recorder::header().base_time_ns);
}

std::string where_others_are(const Recording& r) {
  return r.plan.rank.world_size == 1 ? std::string() : "; all ranks:  profshim ls " + r.plan.folder;
}

std::string chosen_source(const Steps& steps) {
  const StepRule& rule = steps.rule();
  const StepPattern* const pattern = rule.chosen_pattern();
  std::string text = steps.source_text();
  const bool is_of_torch = pattern != nullptr && (pattern->torch_only || rule.locked_kind.load() == MarkerKind::kTorch);
  if (pattern != nullptr) text = (is_of_torch ? "torch \"" : "nvtx \"") + pattern->pattern + "\"";
  if (rule.is_found() && rule.every > 1) text += ", every " + std::to_string(rule.every);
  return text;
}

std::string confidence() {
  const StringId confidence = recorder::header().step_confidence;
  return confidence != 0 ? ", confidence " + std::string(recorder::text_of(confidence)) : "";
}

const char* why_no_window(const Recording& r) {
  if (recorder::header().windows.load() == 0) return "no window was opened";
  if (!r.plan.spec.save_on_exit) return "the window was open when the job ended (schedule.on_exit = \"discard\")";
  return "the only calls seen were those that start and end MPI";
}

void log_no_steps(const Recording& r) {
  if (r.plan.spec.steps.source == StepSource::kNone) {
    log::line(LogLevel::kWarn, "nothing was recorded: %s", why_no_window(r));
    return;
  }
  if (r.finder == nullptr) {
    log::line(LogLevel::kWarn,
              "no steps found: nothing matched %s, nothing was recorded; check steps.source and steps.pattern",
              r.steps.source_text().c_str());
    return;
  }
  log::line(
      LogLevel::kWarn,
      "no steps found: no call of a known library was seen, nothing was recorded; set steps.source (symbol, time, "
      "or none for the whole run)");
}

/// Returns how much a step's number exceeds its place in the schedule; 0 if equal or unknown.
std::int64_t numbers_from(const Recording& r, std::uint64_t steps) {
  if (r.plan.spec.steps.absolute || r.plan.spec.schedule_per_epoch) return 0;
  const std::int64_t first = r.steps.seen().first_number.load(), last = r.steps.seen().last_number.load();
  return last - first == static_cast<std::int64_t>(steps) - 1 ? first : 0;
}

/// Suggests steps before the last, which may have been incomplete.
std::string suggested_steps(const Recording& r) {
  const std::int64_t seen = r.steps.seen().last.load() - r.steps.seen().first.load() + 1;
  if (seen < 2) return "at least 2 steps are needed";
  const std::int64_t last = std::min<std::int64_t>(4, seen - 2);
  const std::int64_t first = std::min<std::int64_t>(2, (last + 1) / 2);
  const std::int64_t from = r.steps.seen().first.load();
  const std::string list = std::to_string(from + first) + (first == last ? "" : "-" + std::to_string(from + last));
  return "this would have recorded:  PROFSHIM_STEPS=" + list;
}

void log_no_window(const Recording& r, std::uint64_t steps) {
  const std::int64_t offset = numbers_from(r, steps);
  const std::int64_t first_seen = r.steps.seen().first.load();
  const auto next = r.plan.spec.schedule.next_recorded(r.plan.spec.steps.absolute ? first_seen : 0);
  std::string seen = std::to_string(steps) + (steps == 1 ? " step" : " steps") + " seen";
  if (offset + first_seen != 0) {
    seen += " from step " + std::to_string(offset + first_seen) + " on";
  }
  const std::string window = next ? "first window at step " + std::to_string(offset + *next)
                                  : std::string("the schedule's last window is before these steps");
  log::line(LogLevel::kWarn, "no window was reached: %s, %s; %s", seen.c_str(), window.c_str(),
            suggested_steps(r).c_str());
}

void log_nothing_written(const Recording& r) {
  const std::uint64_t steps = recorder::header().steps_seen.load();
  if (steps == 0) return log_no_steps(r);
  if (r.queue.opened.load() == 0) return log_no_window(r, steps);
  log::line(LogLevel::kWarn, "nothing was recorded: the job ended inside its window%s; %s",
            r.plan.spec.save_on_exit ? " before it held a complete step" : " (schedule.on_exit = \"discard\")",
            suggested_steps(r).c_str());
}

void log_written_traces(const Recording& r, const write::Outcome& windows) {
  if (!r.plan.is_first_selected) return;
  const std::uint64_t written = windows.written;
  if (written == 0) {
    if (!r.plan.records_steps) return;
    const bool said = windows.failed > 0 || windows.is_any_lost;
    if (!said) log_nothing_written(r);
    return;
  }
  const std::uint64_t seen = recorder::header().steps_seen.load();
  const char* const until = r.steps.rule().of_operators && r.queue.steps_over.load() ? " until the last window" : "";
  const std::string steps =
      r.finder != nullptr && seen == 0
          ? "no loop found, so without steps: set steps.source to choose them"
          : "steps from " + chosen_source(r.steps) + ", " + std::to_string(seen) + " seen" + until + confidence();
  const std::uint64_t removed = windows.removed, kept = written - std::min(written, removed);
  const std::string first = kept > 0 ? "first: " + windows.first_file + "; " : "";
  const std::string gone = removed > 0 ? std::to_string(removed) + " removed; " : "";
  log::line(LogLevel::kWarn, "%llu trace%s in %s (%s%s%s)", Number{kept}, kept == 1 ? "" : "s", r.plan.folder.c_str(),
            first.c_str(), gone.c_str(), steps.c_str());
  if (const StepRule& rule = r.steps.rule(); seen > 0 && std::string_view(rule.confidence) == "low") {
    log::line(LogLevel::kWarn,
              "the steps are uncertain: if they are right, keep them by  PROFSHIM_SET='%s'  ; to choose others, run  "
              "profshim explain --steps %s",
              rule.settings().c_str(), (r.plan.folder + "/" + windows.first_file).c_str());
  }
  if (const std::uint64_t stepless = windows.without_step; stepless > 0) {
    log::line(
        LogLevel::kWarn,
        "%llu of %llu windows hold no complete step: the job ended, or a limit closed them, within their first step",
        Number{stepless}, Number{r.queue.done.load()});
  }
  if (r.queue.all_opened.load()) {
    log::line(LogLevel::kWarn, "limits.total_traces = %lld was reached: later windows were not recorded",
              static_cast<long long>(r.plan.spec.limits.total_traces));
  }
}

void log_unwritten_windows(const Recording& r) {
  const std::uint64_t left = r.queue.waiting.load();
  if (left == 0 || !speaks_for_job(r, "unwritten")) return;
  const std::string kept =
      recorder::path().empty() ? "their events are lost" : "run  profshim recover " + r.plan.folder;
  log::line(LogLevel::kWarn,
            "%llu of %llu windows were not written within output.exit_seconds: %s; output.write_all = true waits for "
            "all windows%s",
            Number{left}, Number{r.queue.opened.load()}, kept.c_str(), where_others_are(r).c_str());
}

void log_lost_windows(const Recording& r, const write::Outcome& windows) {
  if (windows.lost_windows.empty() || windows.is_all_lost) return;  // all lost: said when the disk was full
  if (!speaks_for_job(r, "lost")) return;
  log::line(LogLevel::kWarn, "%s%s", windows.lost_windows.c_str(), where_others_are(r).c_str());
}

void log_other_losses(const Recording& r, const write::Outcome& windows) {
  if (windows.other_losses.empty() || !speaks_for_job(r, "incomplete")) return;
  const std::vector<std::string> sentences(windows.other_losses.begin(), windows.other_losses.end());
  log::line(LogLevel::kWarn, "%llu of %llu windows are incomplete: %s%s", Number{windows.incomplete},
            Number{r.queue.done.load()}, missing_text(sentences).c_str(), where_others_are(r).c_str());
}

void log_dropped_events(const Recording& r, const write::Outcome& windows) {
  const std::uint64_t cut_short = windows.closed_early, dropped = windows.dropped;
  // log_full_tables() reports lost open calls and events of unregistered threads.
  const spool::SpoolHeader& h = recorder::header();
  const std::uint64_t said_elsewhere = h.open_calls_lost.load() + spool::threadless_events(h);
  if ((cut_short == 0 && dropped <= said_elsewhere) || !speaks_for_job(r, "windows")) return;
  if (cut_short == 0) {
    log::line(LogLevel::kWarn, "%llu events dropped: see \"dropped_events\" in the traces, and [limits] in the spec%s",
              Number{dropped}, where_others_are(r).c_str());
    return;
  }
  log::line(LogLevel::kWarn,
            "%llu of %llu windows closed early, %llu events dropped: see \"limit\" and "
            "\"dropped_events\" in the traces, and [limits] in the spec%s",
            Number{cut_short}, Number{r.queue.done.load()}, Number{dropped}, where_others_are(r).c_str());
}

void log_full_tables(const Recording& r) {
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
    if (loss.count == 0 || !speaks_for_job(r, loss.matter)) continue;
    log::line(LogLevel::kWarn, "%llu %s%s", Number{loss.count}, loss.sentence, where_others_are(r).c_str());
  }
  const std::string threads = spool::threads_lost_sentence(h);
  if (!threads.empty() && speaks_for_job(r, "threads")) {
    log::line(LogLevel::kWarn, "%s%s", threads.c_str(), where_others_are(r).c_str());
  }
}

}  // namespace

void log_outcome(const Recording& r) {
  if (log::level() < LogLevel::kWarn) return;
  const write::Outcome windows = r.writer->outcome();
  for (const std::string& why : r.phases.why_no_window()) {
    if (r.plan.is_first_selected) log::line(LogLevel::kWarn, "%s", why.c_str());
  }
  log_written_traces(r, windows);
  if (!windows.last_table.empty()) log::text(LogLevel::kWarn, windows.last_table);
  log_unwritten_windows(r);
  log_lost_windows(r, windows);
  log_dropped_events(r, windows);
  log_other_losses(r, windows);
  log_full_tables(r);
  for (const UnseenCalls& unseen : unseen_calls()) {
    if (speaks_for_job(r, unseen.matter.c_str())) log::line(LogLevel::kWarn, "%s", unseen.sentence.c_str());
  }
}

}  // namespace profshim::session
