// The life cycle of a recording: idle -> starting -> recording -> finished, with inert reachable from anywhere.
#include "profshim/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>

#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/signal_guard.h"
#include "state.h"

namespace profshim::session {
namespace {

enum class Phase : std::uint8_t { kIdle, kStarting, kRecording, kFinishing, kFinished, kInert };
constinit std::atomic<Phase> phase{Phase::kIdle};
constinit std::atomic<State*> the_state{nullptr};
constinit std::atomic<pid_t> owner{0};

constexpr std::int64_t kAbruptPatience_ms = 2'000;
constexpr std::int64_t kNormalPatience_ms = 30'000;
constexpr std::size_t kThreadStack = 1 << 20;

char launch_folder[4096];  // "" = it could not be read

std::string from_launch_folder(const std::string& path) {
  if (path.empty() || path[0] == '/' || launch_folder[0] == 0) return path;
  return std::string(launch_folder) + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

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

// The lowest rank that is selected as far as this one can tell: it speaks for the job.
bool is_first_selected(const Spec& spec, const Rank& rank) {
  for (int r = 0; r < rank.rank; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = rank.world_size;
    if (spec.ranks.select.selects(other)) return false;
  }
  return true;
}

void warn_about_selection(const Spec& spec, const Rank& rank) {
  if (rank.rank != 0 || rank.world_size <= 0) return;
  for (const int outside : spec.ranks.select.outside(rank.world_size)) {
    log::line(LogLevel::kWarn, "ranks.select = \"%s\" names rank %d, but there are only ranks 0-%d",
              spec.ranks.select.text().c_str(), outside, rank.world_size - 1);
  }
}

// Memory first; a disk only where there is none: pages of a disk file are written back while the job writes them.
std::vector<std::string> spool_folders(const std::string& run_folder) {
  std::vector<std::string> folders = {"/dev/shm"};
  if (const char* tmp = std::getenv("TMPDIR"); tmp != nullptr && *tmp == '/') folders.emplace_back(tmp);
  folders.emplace_back("/tmp");
  folders.push_back(run_folder);
  return folders;
}

// How many ranks of this machine may record, as far as this one can tell: they all take from the same file system.
std::uint64_t recording_here(const State& s) {
  std::uint64_t selected = 0;
  for (int r = 0; r < s.rank.world_size; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = s.rank.world_size;
    selected += s.spec.ranks.select.selects(other) ? 1 : 0;
  }
  const auto here = static_cast<std::uint64_t>(std::max(1, s.rank.local_world_size));
  return std::clamp<std::uint64_t>(selected, 1, here);
}

bool create_spool(State& s, std::string& why_not) {
  recorder::SpoolSize size;
  const std::uint64_t blocks = s.spec.activities.cpu && s.spec.profile_memory ? recorder::kBlockTableBytes : 0;
  if (!recorder::divide_memory(s.spec.limits.host_memory, device::host_bytes(s.spec) + blocks, size)) {
    why_not = "limits.host_memory is too small: " + format_size(recorder::kLeastMemory) + " at least";
    return false;
  }
  const std::string name = "profshim-" + std::to_string(getuid()) + "-rank" + std::to_string(s.rank.rank) + "-" +
                           std::to_string(getpid()) + "-" + std::to_string(monotonic_ns()) + ".spool";
  const std::uint64_t wanted = recording_here(s) * (32 << 20);
  for (const std::string& folder : spool_folders(s.folder)) {
    if (recorder::room_in(folder) < wanted) {
      why_not = folder + " has less than " + format_size(wanted) + " to spare";
      continue;
    }
    // A small RLIMIT_AS or RLIMIT_FSIZE may allow a smaller one.
    for (recorder::SpoolSize smaller = size; smaller.chunks >= 16; smaller.chunks /= 4) {
      if (recorder::create_spool(folder + "/" + name, smaller, why_not)) return true;
    }
  }
  return false;
}

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

void fill_header(State& s) {
  spool::SpoolHeader& h = recorder::header();
  h.rank = s.rank.rank;
  h.world_size = s.rank.world_size;
  h.local_rank = s.rank.local_rank;
  h.local_world_size = s.rank.local_world_size;
  h.node_rank = s.rank.node_rank;
  h.host = recorder::intern(s.rank.host);
  h.program = recorder::intern(program_name());
  h.command = recorder::intern(command_line());
  h.rank_source = recorder::intern(s.rank.source);
  h.spec = recorder::intern(s.spec.to_toml(), spool::kMaxText);
  h.run_name = recorder::intern(s.run_name);
  h.folder = recorder::intern(s.folder);
  h.job_key = recorder::intern(s.job.readable);
  h.step_source = recorder::intern(source_text(s.spec));
  s.limit_memory = recorder::intern("limits.host_memory");
  s.limit_space = recorder::intern("no space left for the spool");
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
}

void at_exit() { finish(End::kNormal); }
void at_quick_exit_() { finish(End::kAbrupt); }

void register_ends() {
  std::atexit(at_exit);
  std::at_quick_exit(at_quick_exit_);
  pthread_atfork(nullptr, nullptr, in_forked_child);
}

void remove_spool(const State& s) {
  unlink(recorder::path().c_str());
  if (!s.spool_link.empty()) unlink(s.spool_link.c_str());
}

// Everything that can fail before the first event. A reason when it did.
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
    why_not = run.problem;
    return false;
  }
  s.folder = run.path;
  std::string claimed_by;
  if (!output::claim_rank(s.folder, s.rank.rank, claimed_by)) {
    why_not = "rank " + std::to_string(s.rank.rank) + " is already recorded in " + s.folder + " by " + claimed_by;
    return false;
  }
  choose_clock();
  if (!create_spool(s, why_not)) {
    output::release_claim(s.folder, s.rank.rank);
    why_not = "no spool could be made: " + why_not;
    return false;
  }
  recorder::header().base_time_ns = run.base_time_ns;
  s.spool_link = s.folder + "/.rank" + std::to_string(s.rank.rank) + "-" + std::to_string(getpid()) + ".spool";
  if (symlink(recorder::path().c_str(), s.spool_link.c_str()) != 0) s.spool_link.clear();
  return true;
}

void give_up(State& s) {
  recorder::set_mode(0, ~0u);
  remove_spool(s);
  output::release_claim(s.folder, s.rank.rank);
}

bool start_threads(State& s) {
  pthread_sigmask(SIG_SETMASK, nullptr, &s.job_signals);
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

// The new state, or null when this process does not record.
State* begin_recording(const Rank& mpi_rank) {
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
  s->first_selected = is_first_selected(s->spec, rank);
  for (const std::string& other : rank_contradictions(rank)) {
    log::line(LogLevel::kWarn, "the environment says %s, %s says rank %d: rank %d is used", other.c_str(),
              rank.source.c_str(), rank.rank, rank.rank);
  }
  std::string why_not;
  if (!prepare(*s, why_not)) {
    log::line(LogLevel::kError, "nothing is recorded: %s", why_not.c_str());
    return nullptr;
  }
  recorder::set_mode(recorder::kActive, 0);  // texts can be interned from here on
  recorder::add_anchor(take_anchor());
  fill_header(*s);
  fill_manifest(*s);
  define_facts(*s);
  s->patterns = step_patterns(s->spec);
  if (s->spec.steps.source == StepSource::kKernel) {
    s->kernel_names = std::make_unique<KernelNames>(s->spec.steps.pattern);
  }
  set_marker_first_bytes(*s);
  s->event_cost_ns = recorder::measure_event_cost_ns();
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

// True when the writer came to its end; false when it made no progress for that long.
bool wait_for_writer(State& s, std::int64_t patience_ms) {
  std::unique_lock lock(s.mutex);
  std::uint64_t seen = s.progress_count.load();
  std::int64_t last_progress = monotonic_ns();
  while (!s.writer_done) {
    s.progress.wait_for(lock, std::chrono::milliseconds(20));
    if (const std::uint64_t now = s.progress_count.load(); now != seen) {
      seen = now;
      last_progress = monotonic_ns();
    } else if ((monotonic_ns() - last_progress) / 1'000'000 > patience_ms) {
      return s.writer_done;
    }
  }
  return true;
}

const StepPattern* locked_pattern(const State& s) {
  const int locked = s.locked_pattern.load();
  return locked >= 0 ? &s.patterns[static_cast<std::size_t>(locked)] : nullptr;
}

std::string chosen_source(const State& s) {
  const StepPattern* const pattern = locked_pattern(s);
  if (pattern == nullptr) return source_text(s.spec);
  return (pattern->torch_only ? "torch \"" : "nvtx \"") + pattern->pattern + "\"";
}

// How sure the choice of "auto" is; what the spec names is what it names. The same in the trace:
// src/spool/assembly.cpp.
std::string confidence(const State& s) {
  const StepPattern* const pattern = locked_pattern(s);
  if (s.spec.steps.source != StepSource::kAuto || pattern == nullptr) return "";
  return std::string(", confidence ") + std::string(step_confidence(pattern->pattern));
}

// Of a window that is the whole run.
const char* why_no_window(const State& s) {
  if (recorder::header().windows.load() == 0) return "no window was opened";
  if (!s.spec.save_on_exit) return "the window was open when the job ended (schedule.on_exit = \"discard\")";
  return "no call was seen but those that start and end MPI";
}

// R62: an enabled profile that wrote nothing says so, and why.
void say_nothing_written(const State& s) {
  const auto steps = static_cast<long long>(recorder::header().steps_seen.load());
  if (steps == 0) {
    std::string looked_for;
    for (const StepPattern& p : s.patterns) looked_for += (looked_for.empty() ? "" : ", ") + p.pattern;
    if (s.spec.steps.source == StepSource::kAuto) {
      log::line(
          LogLevel::kWarn,
          "no steps found: no range named %s was seen, nothing was recorded; set steps.source (nvtx, torch, symbol, "
          "collective, time, or none for the whole run)",
          looked_for.c_str());
    } else if (s.spec.steps.source == StepSource::kNone) {
      log::line(LogLevel::kWarn, "nothing was recorded: %s", why_no_window(s));
    } else {
      log::line(LogLevel::kWarn, "no steps found: nothing matched %s, nothing was recorded",
                source_text(s.spec).c_str());
    }
    return;
  }
  const auto next = s.spec.schedule.next_recorded(s.spec.steps.absolute ? s.spec.steps.first : 0);
  log::line(LogLevel::kWarn, "no window was reached: %lld steps seen, first window at step %lld", steps,
            static_cast<long long>(next.value_or(-1)));
}

void say_what_was_written(State& s) {
  if (!s.first_selected) return;
  const std::uint64_t written = s.written.load();
  if (written == 0 && s.failed.load() == 0) {
    say_nothing_written(s);
    return;
  }
  if (written > 0 && log::level() >= LogLevel::kWarn) {
    log::line(LogLevel::kWarn, "%llu trace%s in %s (first: %s; steps from %s, %llu seen%s)",
              static_cast<unsigned long long>(written), written == 1 ? "" : "s", s.folder.c_str(), s.first_file.c_str(),
              chosen_source(s).c_str(), static_cast<unsigned long long>(recorder::header().steps_seen.load()),
              confidence(s).c_str());
  }
}

// On each rank: one may lose what another keeps. The writer is done, its list of windows is complete.
void say_what_was_lost(const State& s) {
  std::size_t cut_short = 0;
  std::uint64_t dropped = 0;
  for (const output::ManifestWindow& window : s.manifest.windows) {
    cut_short += window.truncated ? 1 : 0;
    dropped += window.dropped;
  }
  if (cut_short == 0 && dropped == 0) return;
  log::line(LogLevel::kWarn,
            "%zu of %zu windows closed early by a limit, %llu events dropped: see \"limit\" and "
            "\"dropped_events\" in the traces, and limits in the spec",
            cut_short, s.manifest.windows.size(), static_cast<unsigned long long>(dropped));
}

void end_recording(State& s, End how) {
  recorder::set_mode(0, recorder::kArmed);
  close_at_exit(s, ticks());
  device::finish(how == End::kAbrupt);  // while names can still be taken in
  call_stack::define_modules();         // likewise
  recorder::set_mode(0, ~0u);
  {
    std::lock_guard lock(s.mutex);
    s.stop = true;
  }
  s.wake.notify_all();
  s.progress.notify_all();
  if (!wait_for_writer(s, how == End::kAbrupt ? kAbruptPatience_ms : kNormalPatience_ms)) {
    log::line(LogLevel::kWarn, "the last trace could not be finished in time: run  profshim recover %s",
              s.folder.c_str());
    return;
  }
  recorder::header().finished.store(1);
  remove_spool(s);
  output::release_claim(s.folder, s.rank.rank);
  say_what_was_written(s);
  say_what_was_lost(s);
  if (how == End::kNormal) {
    // Never ourselves: the collector ends a process whose own threads have all ended.
    if (!pthread_equal(pthread_self(), s.collector_thread)) pthread_join(s.collector_thread, nullptr);
    pthread_join(s.writer_thread, nullptr);
  }
}

}  // namespace

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
  const SignalGuard guard;
  try {
    s = begin_recording(rank);
  } catch (const std::exception& e) {
    log::line(LogLevel::kError, "nothing is recorded: %s", e.what());
    recorder::set_mode(0, ~0u);
  }
  if (s == nullptr) {
    phase.store(Phase::kInert);
  } else {
    register_ends();
    the_state.store(s, std::memory_order_release);
    phase.store(Phase::kRecording, std::memory_order_release);
    device::listen({on_kernel_launch, on_graph_launch, on_profiler_range});
    const bool stacks = (s->spec.with_stack || s->spec.native_stack) && call_stack::prepare(s->spec);
    recorder::set_mode(mode_bits(s->spec) | (stacks ? std::uint32_t{recorder::kStacks} : 0), 0);
    if (s->spec.steps.source == StepSource::kNone) {
      const Ticks begin = began != 0 ? began : ticks();
      open_window(*s, begin, spool::kNoMark);
      recorder::set_mode(recorder::kArmed, 0);
      arm_others(*s, begin);
    }
  }
  errno = saved_errno;
}

void finish(End how) {
  if (owner.load() != getpid()) return;  // a vforked child shares our memory
  Phase recording = Phase::kRecording;
  if (!phase.compare_exchange_strong(recording, Phase::kFinishing)) return;
  const int saved_errno = errno;
  const SignalGuard guard;
  try {
    end_recording(*the_state.load(), how);
  } catch (const std::exception& e) {
    log::line(LogLevel::kError, "the recording could not be ended properly: %s", e.what());
  }
  phase.store(Phase::kFinished);
  errno = saved_errno;
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

void call_every_tick(void (*function)()) {
  if (State* const s = live()) s->every_tick.store(function);
}

const Spec* spec() {
  const State* const s = live();
  return s != nullptr ? &s->spec : nullptr;
}

}  // namespace profshim::session
