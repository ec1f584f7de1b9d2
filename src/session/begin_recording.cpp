#include "begin_recording.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "end_recording.h"
#include "profshim/base/glob.h"
#include "profshim/base/log_folder.h"
#include "profshim/base/safe_files.h"
#include "profshim/base/text/error_text.h"
#include "profshim/ending_signals.h"
#include "session/participation/launch_environment.h"
#include "session/participation/participation.h"
#include "session/phases/phases.h"
#include "session/steps/find/step_finder.h"
#include "session/steps/steps.h"
#include "session/write/closing_report.h"
#include "session/write/finish_runner.h"
#include "spool_header.h"
#include "spool_place.h"

namespace profshim::session {

namespace {

constexpr std::size_t kThreadStack = 1 << 20;

}  // namespace

int start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (const int refused = pthread_attr_init(&attributes); refused != 0) return refused;
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return refused;
}

namespace {

// On failure, `why_not` stays empty if another rank reports the reason.
bool prepare(State& s, std::string& why_not) {
  s.job = job_identity(s.rank);
  s.attempt = attempt_of_torchrun();
  std::int64_t run_base_time_ns = 0;
  output::NameValues names;
  names.rank = s.rank;
  names.host = s.rank.host;
  names.job_id = s.job.readable;
  names.pid = getpid();
  names.time_ns = realtime_ns();
  const std::string pattern = from_launch_folder(output::patterns_of(s.spec).folder);
  std::string claimed_by;
  for (int from = 1;;) {
    const output::RunFolder run = output::open_run(s.spec, pattern, names, s.job, realtime_ns(), from);
    if (!run.problem.empty()) {
      if (is_first_selected_of_host(s.spec, s.rank)) why_not = run.problem;
      return false;
    }
    s.folder = run.path;
    s.run_name = run.run_name;
    s.run_id = run.id;
    s.meeting_file = run.meeting_file;
    run_base_time_ns = run.base_time_ns;
    if (output::claim_rank(s.folder, s.rank.rank, claimed_by)) break;
    // Another group of processes of this launch has this rank, too.
    if (!output::is_claimed(s.folder, s.rank.rank)) {
      why_not = "rank " + std::to_string(s.rank.rank) + " " + claimed_by;
      return false;
    }
    from = run.number + 1;
  }
  log::set_run_folder(s.folder, s.rank.rank);
  if (!claimed_by.empty()) {
    log::line(LogLevel::kWarn, "%s, which recorded this rank, has ended: the new process adds its traces to %s",
              claimed_by.c_str(), s.folder.c_str());
  }
  choose_clock();
  if (!create_spool(s, why_not)) {
    output::release_claim(s.folder, s.rank.rank);
    why_not = "cannot create profshim's buffer for events: " + why_not;
    return false;
  }
  recorder::header().base_time_ns = run_base_time_ns;
  const bool is_file = !recorder::path().empty();
  s.spool_link =
      ".rank" + std::to_string(s.rank.rank) + "-" + std::to_string(getpid()) + "-" + random_text() + ".spool";
  const Descriptor folder = open_folder(s.folder);
  if (!is_file || !folder || symlinkat(recorder::path().c_str(), folder.get(), s.spool_link.c_str()) != 0)
    s.spool_link.clear();
  return true;
}

void undo_prepare(State& s) {
  recorder::set_mode(0, ~0u);
  remove_spool(s);
  output::release_claim(s.folder, s.rank.rank);
}

int start_threads(State& s) {
  if (const int refused = start_thread(s.collector_thread, run_collector, &s); refused != 0) return refused;
  if (const int refused = start_thread(s.writer_thread, run_writer, &s); refused != 0) {
    {
      std::lock_guard lock(s.mutex);
      s.stop = true;
    }
    s.progress.notify_all();
    pthread_join(s.collector_thread, nullptr);
    return refused;
  }
  return 0;
}

State* make_state(const Rank& mpi_rank) {
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

  auto* const s = new State(std::move(loaded.spec));
  s->rank = rank;
  s->records_steps = rank.rank < 0 || s->spec.ranks.select.selects(rank);
  s->first_selected = is_first_selected(s->spec, rank);
  for (const std::string& other : rank_contradictions(rank)) {
    log::line(LogLevel::kWarn,
              "the environment says %s, %s says rank %d: rank %d is used (ranks.source = \"VARIABLE\" chooses another)",
              other.c_str(), rank.source.c_str(), rank.rank, rank.rank);
  }
  return s;
}

void set_up_steps(State& s) {
  set_rule(s, rule_of(s.spec));
  if (s.spec.steps.source == StepSource::kKernel) {
    s.kernel_names = std::make_unique<KernelNames>(s.spec.steps.pattern);
  }
  define_phases(s);
  s.epoch_prefix = glob_literal_prefix(s.spec.steps.epoch);
}

}  // namespace

std::uint32_t mode_bits(const Spec& spec) {
  std::uint32_t bits = recorder::kActive;
  if (spec.activities.mpi) bits |= recorder::kMpi;
  if (spec.activities.nvtx) bits |= recorder::kNvtx;
  if (spec.activities.nccl) bits |= recorder::kNccl;
  if (spec.activities.cuda) bits |= recorder::kCuda;
  if (spec.activities.cpu) bits |= recorder::kTorch;
  if (spec.activities.cpu && spec.profile_memory) bits |= recorder::kMemory;
  if (spec.python_calls) bits |= recorder::kPythonCalls;
  if (!spec.fold_polls) bits |= recorder::kEachPoll;
  if (!spec.steps.epoch.empty()) bits |= recorder::kNvtxSteps | recorder::kTorchSteps;
  if (has_phases_of(spec, PhaseSource::kNvtx)) bits |= recorder::kNvtxSteps;
  if (has_phases_of(spec, PhaseSource::kTorch)) bits |= recorder::kTorchSteps;
  return bits;
}

State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals) {
  State* const s = make_state(mpi_rank);
  if (s == nullptr) return nullptr;
  s->job_signals = job_signals;
  // Signals are caught before prepare() makes files that a killed process would leave behind.
  if (s->spec.output.exit_seconds > 0) ending_signals::begin(exit_ns(*s));
  const ending_signals::Blocked until_threads_run;
  std::string why_not;
  if (!prepare(*s, why_not)) {
    if (!why_not.empty()) log::line(LogLevel::kError, "nothing is recorded: %s", why_not.c_str());
    return nullptr;
  }
  recorder::set_mode(recorder::kStarting, 0);  // recorder::intern() works from here on
  recorder::adopt_from_parent();
  recorder::add_anchor(take_anchor());
  set_up_steps(*s);
  fill_header(*s);
  report_spool_place(*s);
  fill_manifest(*s);
  add_spec_metadata(*s);
  check_disk(*s);
  s->costs.measure_base();
  if (output::runs_finish_command(s->spec, s->rank)) s->finish = new FinishRunner(*s);
  if (must_be_found(s->spec) && s->records_steps) s->finder = new StepFinder(*s);
  // A window of the whole run has no warm-up that fills the pool.
  const std::uint32_t ready = s->spec.steps.source == StepSource::kNone ? 512 : 64;
  recorder::tend_pool([] { return Ticks{0}; }, std::min(ready, recorder::chunks_in_pool() / 2));
  recorder::add_anchor(take_anchor());
  if (const int refused = start_threads(*s); refused != 0) {
    log::line(LogLevel::kError,
              "nothing is recorded: no thread could be started (%s); raise the limit on processes (ulimit -u)",
              error_text(refused));
    undo_prepare(*s);
    return nullptr;
  }
  return s;
}

}  // namespace profshim::session
