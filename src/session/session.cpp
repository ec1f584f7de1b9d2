// The life cycle of a recording: idle -> starting -> recording -> finished, with inert reachable from anywhere.
#include "profshim/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>

#include "profshim/base/command_line.h"
#include "profshim/base/log_folder.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/safe_files.h"
#include "profshim/base/signal_guard.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/ending_signals.h"
#include "profshim/output/job_lines.h"
#include "session/write/closing_report.h"
#include "spool_place.h"
#include "state.h"

namespace profshim::session {
namespace {

enum class Phase : std::uint8_t { kIdle, kStarting, kRecording, kFinishing, kFinished, kInert };
constinit std::atomic<Phase> phase{Phase::kIdle};
constinit std::atomic<State*> the_state{nullptr};
constinit std::atomic<pid_t> owner{0};

constinit std::atomic<pid_t> finisher{0};  // the thread that ends the recording

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 2 * kSecond_ns;
constexpr std::int64_t kNormalPatience_ns = 30 * kSecond_ns;
constexpr std::size_t kThreadStack = 1 << 20;

char launch_folder[4096];  // "" = it could not be read

bool is_off(const char* value) {
  for (const char* off : {"0", "false", "no", "off"}) {
    if (strcasecmp(value, off) == 0) return true;
  }
  return false;
}

// Every rank reads the same spec: one of them says what is wrong with it. The last error also says what comes of it, so
// that one mistake is one line; of many, `profshim check` shows the rest.
void report(const LoadedSpec& loaded, const Rank& rank) {
  constexpr std::size_t kMostErrors = 4;
  if (rank.rank > 0) return;
  std::vector<std::string> errors;
  for (const Problem& p : loaded.problems) {
    if (p.severity == Problem::Severity::kError) {
      errors.push_back(to_line(p));
    } else {
      log::line(LogLevel::kWarn, "%s", to_line(p).c_str());
    }
  }
  if (errors.empty()) return;
  const std::size_t shown = std::min(errors.size(), kMostErrors);
  for (std::size_t i = 0; i + 1 < shown; ++i) log::line(LogLevel::kError, "%s", errors[i].c_str());
  const std::string more = errors.size() > shown
                               ? " (and " + std::to_string(errors.size() - shown) + " more: run `profshim check`)"
                               : std::string();
  const char* const outcome = loaded.spec.profile.abort_on_error ? "profile.on_error = \"abort\": the job ends here"
                                                                 : "nothing is recorded, the job runs on";
  log::line(LogLevel::kError, "%s%s; %s", errors[shown - 1].c_str(), more.c_str(), outcome);
}

bool any_glob_matches(const std::vector<std::string>& globs, const std::string& text, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_match(glob, text) || glob_match(glob, name); });
}

bool process_wanted(const Spec& spec) {
  const std::string line = command_line();
  const std::string name = program_name();
  if (any_glob_matches(spec.process.exclude, line, name)) return false;
  return spec.process.match.empty() || any_glob_matches(spec.process.match, line, name);
}

// ranks.source names a variable: that one decides, and MPI's own answer is not asked.
Rank rank_by_source(const Spec& spec, const Rank& from_mpi) {
  if (spec.ranks.source == "auto" || spec.ranks.source == "mpi") return from_mpi;
  Rank rank = from_mpi;
  rank.source = spec.ranks.source;
  const char* const value = std::getenv(spec.ranks.source.c_str());
  char* end = nullptr;
  const long number = value != nullptr ? std::strtol(value, &end, 10) : -1;
  rank.rank = value != nullptr && *value != 0 && *end == 0 && number >= 0 && number <= std::numeric_limits<int>::max()
                  ? static_cast<int>(number)
                  : -1;
  return rank;
}

// The lowest rank that is selected, of all or of those from `from` on, as far as this one can tell: it speaks for them.
bool is_first_selected(const Spec& spec, const Rank& rank, int from = 0) {
  for (int r = from; r < rank.rank; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = rank.world_size;
    if (spec.ranks.select.selects(other)) return false;
  }
  return true;
}

// For what a whole host may suffer from, where no folder is to be had in which ranks could agree on one. Launchers that
// do not say which ranks share a host are taken to have one rank on each.
bool is_first_selected_of_host(const Spec& spec, const Rank& rank) {
  return is_first_selected(spec, rank, std::max(0, rank.rank - std::max(0, rank.local_rank)));
}

void warn_about_selection(const Spec& spec, const Rank& rank) {
  if (rank.rank != 0 || rank.world_size <= 0) return;
  for (const int outside : spec.ranks.select.outside(rank.world_size)) {
    log::line(LogLevel::kWarn, "ranks.select = \"%s\" names rank %d, but there are only ranks 0-%d",
              spec.ranks.select.text().c_str(), outside, rank.world_size - 1);
  }
}

void define_facts(const State& s) {
  const auto fact = [](std::string_view key, const std::string& json) {
    recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern(key), recorder::intern(json, spool::kMaxText));
  };
  fact("spec_hash", json_string(s.spec.hash()));
  const auto& a = s.spec.activities;
  std::string recorded = "[";
  for (const auto& [name, on] : {std::pair{"cpu", a.cpu}, std::pair{"cuda", a.cuda}, std::pair{"nccl", a.nccl},
                                 std::pair{"mpi", a.mpi}, std::pair{"nvtx", a.nvtx}}) {
    if (on) recorded += (recorded.size() > 1 ? ", \"" : "\"") + std::string(name) + "\"";
  }
  recorded += "]";
  // As PyTorch's profiler has it: not there at all when off.
  for (const auto& [key, on] :
       {std::pair{"record_shapes", s.spec.record_shapes}, std::pair{"with_flops", s.spec.with_flops},
        std::pair{"with_stack", s.spec.with_stack || s.spec.native_stack},
        std::pair{"profile_memory", s.spec.profile_memory}}) {
    if (on) fact(key, "1");
  }
  fact("scope", "{\"recorded\": " + recorded + ", \"role\": " + json_string(s.spec.process.role) + "}");
}

// Patterns for command lines may hold what a command line holds.
Spec without_secrets(Spec spec) {
  for (auto* const patterns : {&spec.process.match, &spec.process.exclude}) {
    for (std::string& pattern : *patterns) pattern = shown_command_line({pattern}, true);
  }
  return spec;
}

void fill_header(State& s) {
  spool::SpoolHeader& h = recorder::header();
  h.rank = s.rank.rank;
  h.world_size = s.rank.world_size;
  h.local_rank = s.rank.local_rank;
  h.local_world_size = s.rank.local_world_size;
  h.node_rank = s.rank.node_rank;
  h.host = recorder::intern(s.rank.host);
  h.program = recorder::intern(program_name());
  h.command = recorder::intern(shown_command_line(process_arguments(), s.spec.output.arguments));
  h.rank_source = recorder::intern(s.rank.source);
  h.spec = recorder::intern(without_secrets(s.spec).to_toml(), spool::kMaxText);
  h.run_name = recorder::intern(s.run_name);
  h.folder = recorder::intern(s.folder);
  h.job_key = recorder::intern(s.job.readable);
  h.process = recorder::intern(to_text(own_identity()));
  h.step_source = recorder::intern(source_text(s.spec));
  s.limit_time = recorder::intern("limits.window_seconds");
  s.limit_size = recorder::intern("limits.trace_size");
  s.limit_device = recorder::intern("CUPTI has no more room");
  s.limit_marks = recorder::intern("too many steps in one window");
}

void fill_manifest(State& s) {
  s.manifest.rank = s.rank;
  s.manifest.pid = getpid();
  s.manifest.run_name = s.run_name;
  s.manifest.spec_hash = s.spec.hash();
  s.manifest.step_source = source_text(s.spec);
  s.manifest.spool = recorder::path();
  // A process that was started again in the same job goes on in the manifest of the one before.
  output::Manifest earlier;
  const std::string path = s.folder + "/manifest-rank" + std::to_string(s.rank.rank) + ".json";
  if (output::read_manifest(path, earlier) && earlier.run_name == s.run_name)
    s.manifest.windows = std::move(earlier.windows);
  s.windows_before = s.manifest.windows.size();
}

std::uint32_t mode_bits(const Spec& spec) {
  std::uint32_t bits = recorder::kActive;
  if (spec.activities.mpi) bits |= recorder::kMpi;
  if (spec.activities.nvtx) bits |= recorder::kNvtx;
  if (spec.activities.nccl) bits |= recorder::kNccl;
  if (spec.activities.cuda) bits |= recorder::kCuda;
  if (spec.activities.cpu) bits |= recorder::kTorch;
  if (spec.record_shapes || spec.with_flops) bits |= recorder::kTorchInputs;
  if (spec.activities.cpu && spec.profile_memory) bits |= recorder::kMemory;
  if (!spec.fold_polls) bits |= recorder::kEachPoll;
  if (spec.steps.source == StepSource::kCollective) bits |= recorder::kHookSteps;
  if (spec.steps.source == StepSource::kCudaProfilerApi) bits |= recorder::kCudaSteps;
  if (spec.steps.source == StepSource::kNvtx || spec.steps.source == StepSource::kAuto || !spec.steps.epoch.empty()) {
    bits |= recorder::kNvtxSteps;
  }
  if (spec.steps.source == StepSource::kTorch || spec.steps.source == StepSource::kAuto || !spec.steps.epoch.empty()) {
    bits |= recorder::kTorchSteps;
  }
  return bits;
}

// What PyTorch itself marks with record_function: torch/optim/optimizer.py (profile_hook_step), torch/nn/parallel/
// distributed.py, torch/distributed/fsdp.
constexpr std::string_view kOptimizerSteps = "Optimizer.step#*";
constexpr std::string_view kForwardRanges[] = {"DistributedDataParallel.forward", "FullyShardedDataParallel.forward"};

std::vector<StepPattern> step_patterns(const Spec& spec) {
  std::vector<StepPattern> patterns;
  const auto add = [&patterns](std::string_view pattern, StepPattern kind) {
    kind.pattern = pattern;
    kind.prefix = glob_literal_prefix(pattern);
    patterns.push_back(std::move(kind));
  };
  const bool nvtx = spec.steps.source == StepSource::kNvtx, any = spec.steps.source == StepSource::kAuto;
  const bool torch = spec.steps.source == StepSource::kTorch;
  if ((nvtx || torch) && !spec.steps.pattern.empty()) {
    add(spec.steps.pattern, {.torch_only = torch});
    return patterns;
  }
  if (nvtx || any || torch) {
    for (const std::string_view pattern : well_known_step_patterns()) add(pattern, {.torch_only = torch});
  }
  if (any || torch) {
    add(kOptimizerSteps, {.torch_only = true, .at_end = true});
    for (const std::string_view pattern : kForwardRanges) add(pattern, {.torch_only = true, .is_weak = true});
  }
  return patterns;
}

// Before the mode says kNvtxSteps: no hook reads it earlier.
void set_marker_first_bytes(const State& s) {
  const auto allow = [](std::string_view prefix) {
    if (prefix.empty()) {
      for (std::uint64_t& word : detail::marker_first_bytes) word = ~std::uint64_t{0};
      return;
    }
    const auto first = static_cast<unsigned char>(prefix.front());
    detail::marker_first_bytes[first / 64] |= std::uint64_t{1} << (first % 64);
  };
  for (const StepPattern& p : s.patterns) allow(p.prefix);
  if (!s.spec.steps.epoch.empty()) allow(glob_literal_prefix(s.spec.steps.epoch));
}

// All signals blocked: a handler of the job must never run on a thread of ours.
bool start_thread(pthread_t& thread, void* (*body)(void*), State* s) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&thread, &attributes, body, s);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return refused == 0;
}

void in_forked_child() {
  phase.store(Phase::kInert);
  the_state.store(nullptr);
  recorder::abandon_in_child();
  device::abandon_in_child();
  ending_signals::end_in_child();
}

void at_exit() { finish(End::kNormal); }
void at_quick_exit_() { finish(End::kAbrupt); }

void register_ends() {
  std::atexit(at_exit);
  std::at_quick_exit(at_quick_exit_);
  pthread_atfork(nullptr, nullptr, in_forked_child);
}

// Everything that can fail before the first event. A reason when it did, unless another rank gives it.
bool prepare(State& s, std::string& why_not) {
  s.job = job_identity();
  s.run_name = output::run_name_for(s.spec, s.job);
  output::NameValues names;
  names.rank = s.rank;
  names.run_name = s.run_name;
  names.host = s.rank.host;
  names.job_id = s.job.readable;
  names.pid = getpid();
  names.time_ns = realtime_ns();
  const output::RunFolder run =
      output::open_run(s.spec, from_launch_folder(output::expand(s.spec.output.folder, names)), s.job, realtime_ns());
  if (!run.problem.empty()) {
    if (is_first_selected_of_host(s.spec, s.rank)) why_not = run.problem;
    return false;
  }
  s.folder = run.path;
  log::set_run_folder(s.folder, s.rank.rank);
  std::string claimed_by;
  if (!output::claim_rank(s.folder, s.rank.rank, claimed_by)) {
    why_not = "rank " + std::to_string(s.rank.rank) + " " + claimed_by;
    return false;
  }
  if (!claimed_by.empty()) {
    log::line(LogLevel::kWarn, "%s is gone: this process goes on in %s", claimed_by.c_str(), s.folder.c_str());
  }
  choose_clock();
  if (!create_spool(s, why_not)) {
    output::release_claim(s.folder, s.rank.rank);
    why_not = "no spool could be made: " + why_not;
    return false;
  }
  recorder::header().base_time_ns = run.base_time_ns;
  const bool is_file = !recorder::path().empty();
  s.spool_link = s.folder + "/.rank" + std::to_string(s.rank.rank) + "-" + std::to_string(getpid()) + "-" +
                 random_text() + ".spool";
  if (!is_file || symlink(recorder::path().c_str(), s.spool_link.c_str()) != 0) s.spool_link.clear();
  return true;
}

void give_up(State& s) {
  recorder::set_mode(0, ~0u);
  remove_spool(s);
  output::release_claim(s.folder, s.rank.rank);
}

bool start_threads(State& s) {
  if (!start_thread(s.collector_thread, run_collector, &s)) return false;
  if (!start_thread(s.writer_thread, run_writer, &s)) {
    {
      std::lock_guard lock(s.mutex);
      s.stop = true;
    }
    s.progress.notify_all();
    pthread_join(s.collector_thread, nullptr);
    return false;
  }
  s.threads_run = true;
  return true;
}

LoadedSpec load_own_spec() {
  SpecSources sources = sources_from_environment();
  sources.file = from_launch_folder(sources.file);
  return load_spec(sources);
}

std::int64_t exit_ns(const State& s) { return s.spec.output.exit_seconds * kSecond_ns; }

// The new state, or null when this process does not record.
State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals) {
  LoadedSpec loaded = load_own_spec();
  log::set_level(loaded.spec.profile.log_level);
  if (loaded.spec.profile.log != "stderr") log::set_file(from_launch_folder(loaded.spec.profile.log));
  const Rank rank = rank_by_source(loaded.spec, mpi_rank);
  log::set_rank(rank.rank);
  report(loaded, rank);
  if (!loaded.ok()) {
    if (loaded.spec.profile.abort_on_error) std::_Exit(2);
    return nullptr;
  }
  if (!loaded.enabled || !process_wanted(loaded.spec)) return nullptr;
  if (rank.rank < 0 && !loaded.spec.ranks.record_unknown) {
    log::line(LogLevel::kWarn,
              "%s gives no rank; nothing is recorded (ranks.unknown = \"record\" records all the same)",
              loaded.spec.ranks.source.c_str());
    return nullptr;
  }
  warn_about_selection(loaded.spec, rank);
  if (rank.rank >= 0 && !loaded.spec.ranks.select.selects(rank)) return nullptr;

  auto* const s = new State(std::move(loaded.spec));  // never freed: see state.h
  s->rank = rank;
  s->job_signals = job_signals;
  s->first_selected = is_first_selected(s->spec, rank);
  for (const std::string& other : rank_contradictions(rank)) {
    log::line(LogLevel::kWarn, "the environment says %s, %s says rank %d: rank %d is used", other.c_str(),
              rank.source.c_str(), rank.rank, rank.rank);
  }
  // From here on there is something to clean up.
  if (s->spec.output.exit_seconds > 0) ending_signals::begin(exit_ns(*s));
  const ending_signals::Blocked until_threads_run;
  std::string why_not;
  if (!prepare(*s, why_not)) {
    if (!why_not.empty()) log::line(LogLevel::kError, "nothing is recorded: %s", why_not.c_str());
    return nullptr;
  }
  recorder::set_mode(recorder::kActive, 0);  // texts can be interned from here on
  recorder::add_anchor(take_anchor());
  fill_header(*s);
  say_where_spool_lies(*s);
  fill_manifest(*s);
  define_facts(*s);
  s->patterns = step_patterns(s->spec);
  if (s->spec.steps.source == StepSource::kKernel) {
    s->kernel_names = std::make_unique<KernelNames>(s->spec.steps.pattern);
  }
  s->epoch_prefix = glob_literal_prefix(s->spec.steps.epoch);
  set_marker_first_bytes(*s);
  look_at_disk(*s);
  s->costs.measure_base();
  // A whole-run window opens at once; every other one has its warm-up.
  const std::uint32_t ready = s->spec.steps.source == StepSource::kNone ? 512 : 64;
  recorder::tend_pool([] { return Ticks{0}; }, std::min(ready, recorder::chunks_in_pool() / 2));
  recorder::add_anchor(take_anchor());
  if (!start_threads(*s)) {
    log::line(LogLevel::kError, "nothing is recorded: no thread could be started (%s)", std::strerror(errno));
    give_up(*s);
    return nullptr;
  }
  return s;
}

// ---- the end
// ---------------------------------------------------------------------------------------------------------

// How long the writer may make no progress. At the end of a program that ends by itself a slow disk is waited for.
std::int64_t patience_ns(const State& s, End how) {
  return std::max(exit_ns(s), how == End::kNormal ? kNormalPatience_ns : kAbruptPatience_ns);
}

// Until when the end may wait in all; 0 = for as long as there is progress. A signal may come while a program ends.
std::int64_t deadline_ns(const State& s, End how, std::int64_t began_ns) {
  if (ending_signals::arrived() != 0) return ending_signals::arrived_at_ns() + exit_ns(s);
  return how == End::kReplaced ? began_ns + exit_ns(s) : 0;
}

// True when the writer came to its end; false when it made no progress for too long, or takes too long.
bool wait_for_writer(State& s, End how, const ending_signals::Blocked& blocked) {
  std::unique_lock lock(s.mutex);
  std::uint64_t seen = s.progress_count.load();
  const std::int64_t began = monotonic_ns();
  std::int64_t last_progress = began;
  while (!s.writer_done) {
    s.progress.wait_for(lock, std::chrono::milliseconds(20));
    blocked.look();
    const std::int64_t now = monotonic_ns(), deadline = deadline_ns(s, how, began);
    if (const std::uint64_t count = s.progress_count.load(); count != seen) {
      seen = count;
      last_progress = now;
    }
    if (now - last_progress > patience_ns(s, how) || (deadline != 0 && now > deadline)) return s.writer_done;
  }
  return true;
}

void end_recording(State& s, End how, const ending_signals::Blocked& blocked) {
  recorder::set_mode(0, recorder::kArmed);
  close_at_exit(s, ticks());
  device::finish(how != End::kNormal);  // while names can still be taken in
  call_stack::define_modules();         // likewise
  recorder::set_mode(0, ~0u);
  // The job waits for the writer now, or a launcher that kills soon. Refused to most users: then it stays as nice as it
  // is.
  setpriority(PRIO_PROCESS, static_cast<id_t>(s.writer_tid.load()), 0);
  {
    std::lock_guard lock(s.mutex);
    s.stop = true;
  }
  s.wake.notify_all();
  s.progress.notify_all();
  if (!wait_for_writer(s, how, blocked)) {
    if (recorder::path().empty()) {
      log::line(LogLevel::kWarn, "the last trace could not be finished in time, and no spool holds its events");
    } else {
      log::line(LogLevel::kWarn, "the last trace could not be finished in time: run  profshim recover %s",
                s.folder.c_str());
    }
    return;
  }
  recorder::header().finished.store(1);
  say_how_it_went(s);
  if (s.failed.load() == 0) remove_spool(s);  // else `recover` makes traces of what it holds
  output::release_claim(s.folder, s.rank.rank);
  output::forget_what_was_said(s.folder, recorder::header().base_time_ns);
  if (how == End::kNormal) {
    // Never ourselves: the collector ends a process whose own threads have all ended.
    if (!pthread_equal(pthread_self(), s.collector_thread)) pthread_join(s.collector_thread, nullptr);
    pthread_join(s.writer_thread, nullptr);
  }
}

bool is_collector(const State& s) { return pthread_equal(pthread_self(), s.collector_thread) != 0; }

// On the calling thread; does nothing where another one does it already.
void end_here(State& s, End how) {
  Phase recording = Phase::kRecording;
  if (!phase.compare_exchange_strong(recording, Phase::kFinishing)) return;
  finisher.store(static_cast<pid_t>(syscall(SYS_gettid)));
  {
    const SignalGuard guard;
    const ending_signals::Blocked blocked;
    try {
      end_recording(s, how, blocked);
    } catch (const std::exception& e) {
      log::line(LogLevel::kError, "the recording could not be ended properly: %s", e.what());
    }
    ending_signals::end();
  }
  if (ending_signals::arrived() != 0) ending_signals::end_process();
  phase.store(Phase::kFinished);
}

// Waits for the thread that ends the recording. No lock and no memory: the caller may be a handler of the job's.
void await_end(const State& s, End how) {
  if (finisher.load() == static_cast<pid_t>(syscall(SYS_gettid))) return;  // a handler came in there
  const std::int64_t began = monotonic_ns();
  std::int64_t last_progress = began;
  std::uint64_t seen = s.progress_count.load();
  while (phase.load() != Phase::kFinished) {
    const timespec pause{0, 500'000};
    syscall(SYS_nanosleep, &pause, nullptr);
    const std::int64_t now = monotonic_ns();
    if (const std::uint64_t count = s.progress_count.load(); count != seen) {
      seen = count;
      last_progress = now;
    }
    // A second more than the thread that waits for the writer allows itself.
    if (now - last_progress > patience_ns(s, how) + kSecond_ns) return;
    if (how == End::kReplaced && now - began > exit_ns(s) + kSecond_ns) return;
  }
}

}  // namespace

std::string source_text(const Spec& spec) {
  switch (spec.steps.source) {
    case StepSource::kAuto:
      return "auto";
    case StepSource::kNvtx:
      return "nvtx " + spec.steps.pattern;
    case StepSource::kSymbol:
      return "symbol " + spec.steps.pattern;
    case StepSource::kKernel:
      return "kernel " + spec.steps.pattern;
    case StepSource::kCudaProfilerApi:
      return "cuda_profiler_api";
    case StepSource::kTorch:
      return spec.steps.pattern.empty() ? "torch" : "torch " + spec.steps.pattern;
    case StepSource::kCollective:
      return "collective " + spec.steps.pattern;
    case StepSource::kTime:
      return "time " + std::to_string(spec.steps.every_ms) + " ms";
    case StepSource::kNone:
      return "none";
  }
  return {};
}

void remove_spool(const State& s) {
  if (!s.spool_link.empty()) unlink(s.spool_link.c_str());
  if (!recorder::path().empty()) unlink(recorder::path().c_str());
}

std::string from_launch_folder(const std::string& path) {
  if (path.empty() || path[0] == '/' || launch_folder[0] == 0) return path;
  return std::string(launch_folder) + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

void end_if_asked(State& s) {
  if (ending_signals::arrived() != 0) {
    end_here(s, End::kSignal);
  } else if (s.end_asked.load()) {
    end_here(s, s.how_asked.load());
  }
}

State* live() {
  return phase.load(std::memory_order_acquire) == Phase::kRecording ? the_state.load(std::memory_order_acquire)
                                                                    : nullptr;
}

std::array<pid_t, 3> own_threads(const State& s) {
  return {s.collector_tid.load(), s.writer_tid.load(), device::own_thread()};
}

/// What the library itself puts into the environment asks for nothing.
static bool is_our_own(const char* variable) {
  for (const std::string_view own : {"PROFSHIM_ACTIVE=", "PROFSHIM_NCCL_PLUGIN="}) {
    if (std::string_view(variable).starts_with(own)) return true;
  }
  return false;
}

bool requested() {
  static const bool answer = [] {
    bool any = false;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      if (std::strncmp(*variable, "PROFSHIM", 8) != 0) continue;
      if (std::strncmp(*variable, "PROFSHIM=", 9) == 0) {
        if (is_off(*variable + 9)) return false;
        any = true;
      } else if ((*variable)[8] == '_' && !is_our_own(*variable)) {
        any = true;
      }
    }
    if (any && getcwd(launch_folder, sizeof launch_folder) == nullptr) launch_folder[0] = 0;
    return any;
  }();
  return answer;
}

void activate(const Rank& rank, Ticks began) {
  Phase idle = Phase::kIdle;
  if (!requested() || !phase.compare_exchange_strong(idle, Phase::kStarting)) return;
  const int saved_errno = errno;
  owner.store(getpid());
  State* s = nullptr;
  sigset_t job_signals;
  pthread_sigmask(SIG_SETMASK, nullptr, &job_signals);
  const SignalGuard guard;
  try {
    s = begin_recording(rank, job_signals);
  } catch (const std::exception& e) {
    log::line(LogLevel::kError, "nothing is recorded: %s", e.what());
    recorder::set_mode(0, ~0u);
  }
  if (s == nullptr) {
    phase.store(Phase::kInert);
    ending_signals::end();
    if (ending_signals::arrived() != 0) ending_signals::end_process();
  } else {
    register_ends();
    // Before any thread can make a step, whose window this would end.
    if (window_is_near(*s, -1, 0)) device::disarm(0, true);
    the_state.store(s, std::memory_order_release);
    phase.store(Phase::kRecording, std::memory_order_release);
    device::listen({on_kernel_launch, on_graph_launch, on_profiler_range});
    const bool stacks = (s->spec.with_stack || s->spec.native_stack) && call_stack::prepare(s->spec);
    recorder::set_mode(mode_bits(s->spec) | (stacks ? std::uint32_t{recorder::kStacks} : 0), 0);
    if (s->spec.steps.source == StepSource::kNone) {
      const Ticks begin = began != 0 ? began : ticks();
      open_window(*s, begin, spool::kNoMark);
      if (s->current.load() != nullptr) {
        recorder::set_mode(recorder::kArmed, 0);
        arm_others(*s, begin);
      }
    }
  }
  errno = saved_errno;
}

void finish(End how) {
  if (owner.load() != getpid()) return;  // a vforked child shares our memory
  const Phase now = phase.load();
  if (now != Phase::kRecording && now != Phase::kFinishing) return;
  State& s = *the_state.load();
  const int saved_errno = errno;
  if (how == End::kNormal || is_collector(s)) {
    end_here(s, how);
  } else {
    s.how_asked.store(how);
    s.end_asked.store(true);
    s.progress.notify_all();
  }
  if (!is_collector(s)) await_end(s, how);
  errno = saved_errno;
}

void say_never_activated(const char* library) {
  if (phase.load() != Phase::kIdle || !requested()) return;
  try {
    const LoadedSpec loaded = load_own_spec();
    const Rank rank = rank_by_source(loaded.spec, rank_from_environment());
    log::set_level(loaded.spec.profile.log_level);
    if (loaded.spec.profile.log != "stderr") log::set_file(from_launch_folder(loaded.spec.profile.log));
    report(loaded, rank);
    if (!loaded.ok() || !loaded.enabled || !process_wanted(loaded.spec)) return;
    if (rank.rank >= 0 && !(loaded.spec.ranks.select.selects(rank) && is_first_selected(loaded.spec, rank))) return;
    log::line(LogLevel::kWarn,
              "nothing was recorded: %s is loaded, but this process showed neither a rank nor a step before it ended; "
              "more:  profshim doctor -- %s",
              library, program_name().c_str());
  } catch (const std::exception& e) {
    log::line(LogLevel::kWarn, "nothing was recorded: %s", e.what());
  }
}

bool ends_with_this_process() {
  const State* const s = live();
  return s != nullptr && s->spec.output.exit_seconds > 0 && owner.load() == getpid();
}

void flush() {
  if (State* const s = live()) s->wake.notify_all();
}

std::vector<std::string> step_ranges() {
  if (phase.load() != Phase::kIdle || !requested()) return {};
  try {
    const Spec spec = load_own_spec().spec;
    if (spec.steps.source != StepSource::kAuto && spec.steps.source != StepSource::kTorch) return {};
    std::vector<std::string> ranges;
    for (const StepPattern& pattern : step_patterns(spec)) ranges.push_back(pattern.pattern);
    if (!spec.steps.epoch.empty()) ranges.push_back(spec.steps.epoch);
    return ranges;
  } catch (...) {
    return {};
  }
}

void call_when_arming(void (*function)(bool armed)) {
  if (State* const s = live()) s->when_arming.store(function);
}

void measure_cost_with(Layer layer, double (*measure)()) {
  if (State* const s = live()) s->costs.measure_with(layer, measure);
}

void call_every_tick(void (*function)()) {
  if (State* const s = live()) s->every_tick.store(function);
}

const Spec* spec() {
  const State* const s = live();
  return s != nullptr ? &s->spec : nullptr;
}

}  // namespace profshim::session
