#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "for_writer.h"
#include "profshim/base/log.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/threads/signal_guard.h"
#include "profshim/ending_signals.h"
#include "profshim/recorder_control.h"
#include "profshim/run/run_folder.h"
#include "session/selection/launch_environment.h"
#include "session/selection/selection.h"
#include "session/spool/spool_header.h"
#include "stages.h"

namespace profshim::session {

namespace {

// On failure, `why_not` stays empty if another rank reports the reason.
bool prepare(Plan& plan, SpoolPlace& place, std::string& why_not) {
  plan.job = job_identity(plan.rank);
  plan.attempt = attempt_of_torchrun();
  std::int64_t run_base_time_ns = 0;
  NameValues names;
  names.rank = plan.rank;
  names.host = plan.rank.host;
  names.job_id = plan.job.readable;
  names.pid = getpid();
  names.time_ns = realtime_ns();
  const std::string pattern = from_launch_folder(patterns_of(plan.spec).folder);
  std::string claimed_by;
  for (int from = 1;;) {
    const run::RunFolder run = run::open_run(plan.spec, pattern, names, plan.job, realtime_ns(), from);
    if (!run.problem.empty()) {
      if (is_first_selected_of_host(plan.spec, plan.rank)) why_not = run.problem;
      return false;
    }
    plan.folder = run.path;
    plan.run_name = run.run_name;
    plan.run_id = run.id;
    plan.rendezvous_file = run.rendezvous_file;
    run_base_time_ns = run.base_time_ns;
    if (run::claim_rank(plan.folder, plan.rank.rank, claimed_by)) break;
    // Another group of processes of this launch has this rank, too.
    if (!run::is_claimed(plan.folder, plan.rank.rank)) {
      why_not = "rank " + std::to_string(plan.rank.rank) + " " + claimed_by;
      return false;
    }
    from = run.number + 1;
  }
  log::set_run_folder(plan.folder, plan.rank.rank);
  if (!claimed_by.empty()) {
    log::line(LogLevel::kWarn, "%s, which recorded this rank, has ended: the new process adds its traces to %s",
              claimed_by.c_str(), plan.folder.c_str());
  }
  choose_clock();
  if (!create_spool(plan, place, why_not)) {
    run::release_claim(plan.folder, plan.rank.rank);
    why_not = "cannot create profshim's buffer for events: " + why_not;
    return false;
  }
  recorder::header().base_time_ns = run_base_time_ns;
  link_spool(plan, place);
  return true;
}

void undo_prepare(const Recording& r) {
  recorder::set_mode(0, ~0u);
  remove_spool(r.plan, r.place);
  run::release_claim(r.plan.folder, r.plan.rank.rank);
}

int start_threads(Recording& r) {
  if (const int refused = start_thread(r.life.collector, run_collector, &r); refused != 0) return refused;
  if (const int refused = r.writer->start(); refused != 0) {
    r.life.stop();
    pthread_join(r.life.collector, nullptr);
    return refused;
  }
  return 0;
}

/// Returns null if this process does not record.
Recording* make_recording(const Rank& mpi_rank, const sigset_t& job_signals) {
  LoadedSpec loaded = load_own_spec();
  set_up_log(loaded.spec);
  Rank rank = rank_by_source(loaded.spec, mpi_rank);
  rank.role = loaded.spec.process.role = role_of_process(loaded.spec);
  log::set_rank(rank.rank);
  report_problems(loaded, rank);
  if (!loaded.ok()) {
    if (loaded.spec.profile.abort_on_error) std::_Exit(2);
    return nullptr;
  }
  if (!loaded.enabled || !is_process_selected(loaded.spec) || !is_rank_selected(loaded.spec, rank)) return nullptr;

  Plan plan;
  plan.spec = std::move(loaded.spec);
  plan.rank = rank;
  plan.job_signals = job_signals;
  plan.records_steps = rank.rank < 0 || plan.spec.ranks.select.selects(rank);
  plan.records_phases = std::any_of(plan.spec.phases.begin(), plan.spec.phases.end(), [&](const PhaseSpec& phase) {
    return phase.has_windows && is_selected(plan.spec, phase, rank);
  });
  plan.is_first_selected = is_first_selected(plan.spec, rank);
  for (const std::string& other : rank_contradictions(rank)) {
    log::line(LogLevel::kWarn,
              "the environment says %s, %s says rank %d: rank %d is used (ranks.source = \"VARIABLE\" chooses another)",
              other.c_str(), rank.source.c_str(), rank.rank, rank.rank);
  }
  return new Recording(std::move(plan));
}

void describe_in_spool(Recording& r) {
  r.limits.intern();
  r.steps.set_up();
  r.phases.define();
  watch_threads_of_phases(r);
  fill_header(r.plan, r.steps.source_text());
  report_spool_place(r.plan, r.place);
  add_spec_metadata(r.plan);
}

void make_writer(Recording& r) {
  r.for_writer = std::make_unique<RecordingForWriter>(r);
  r.writer = std::make_unique<write::Writer>(plan_for_writer(r.plan, r.place), r.queue, r.trace_size, *r.for_writer);
  r.queue.disk_is_full.store(!write::has_disk_space(r.plan.spec, r.plan.folder));
}

}  // namespace

Recording* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals) {
  Recording* const r = make_recording(mpi_rank, job_signals);
  if (r == nullptr) return nullptr;
  const Spec& spec = r->plan.spec;
  // Signals are caught before prepare() makes files that a killed process would leave behind.
  if (spec.output.exit_seconds > 0) ending_signals::begin(exit_ns(r->plan));
  const ending_signals::Blocked until_threads_run;
  std::string why_not;
  if (!prepare(r->plan, r->place, why_not)) {
    if (!why_not.empty()) log::line(LogLevel::kError, "nothing is recorded: %s", why_not.c_str());
    return nullptr;
  }
  recorder::set_mode(recorder::kStarting, 0);  // recorder::intern() works from here on
  recorder::adopt_from_parent();
  recorder::add_anchor(take_anchor());
  describe_in_spool(*r);
  make_writer(*r);
  r->costs.measure_base();
  if (must_be_found(spec) && r->plan.records_steps) {
    r->finder = std::make_unique<StepFinder>(r->plan, r->queue, r->recording_switch, r->steps);
  }
  // A window of the whole run has no warm-up that fills the pool.
  const std::uint32_t ready = spec.steps.source == StepSource::kNone ? 512 : 64;
  recorder::tend_pool([] { return Ticks{0}; }, std::min(ready, recorder::chunks_in_pool() / 2));
  recorder::add_anchor(take_anchor());
  if (const int refused = start_threads(*r); refused != 0) {
    log::line(LogLevel::kError,
              "nothing is recorded: no thread could be started (%s); raise the limit on processes (ulimit -u)",
              error_text(refused));
    undo_prepare(*r);
    return nullptr;
  }
  return r;
}

}  // namespace profshim::session
