// Phases: idle -> starting -> recording -> finishing -> finished. A process that does not record is inert. A child of a
// process that records is idle, until it leaves its parent and is activated.
#include "profshim/session.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>

#include "profshim/base/command_line.h"
#include "profshim/base/log.h"
#include "profshim/base/process/process_words.h"
#include "profshim/base/threads/signal_guard.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "session/recording_switch.h"
#include "session/selection/launch_environment.h"
#include "session/selection/selection.h"
#include "session/steps/step_markers.h"
#include "stages.h"

namespace profshim::session {

enum class Phase : std::uint8_t { kIdle, kStarting, kRecording, kFinishing, kFinished, kInert };

namespace {

constexpr std::atomic<Phase>& phase = process_words.phase;
constinit std::atomic<Recording*> the_recording{nullptr};
constinit std::atomic<pid_t> owner{0};

constinit std::atomic<pid_t> finisher{0};
constexpr std::int64_t kSecond_ns = 1'000'000'000;

void in_forked_child() {
  recorder::abandon_in_child();
  device::abandon_in_child();
  ending_signals::end_in_child();
}

void at_exit() { finish(End::kNormal); }
void at_quick_exit_() { finish(End::kAbrupt); }

/// Once: a child has the handlers of its parent.
void register_ends() {
  static constinit std::atomic<bool> is_done{false};
  if (is_done.exchange(true)) return;
  std::atexit(at_exit);
  std::at_quick_exit(at_quick_exit_);
  pthread_atfork(nullptr, nullptr, in_forked_child);
}

void end_here(Recording& r, End how) {
  Phase recording = Phase::kRecording;
  if (!phase.compare_exchange_strong(recording, Phase::kFinishing)) return;
  finisher.store(static_cast<pid_t>(syscall(SYS_gettid)));
  {
    const SignalGuard guard;
    const ending_signals::Blocked blocked;
    const Uninterrupted no_handler_of_the_job;
    try {
      end_recording(r, how, blocked);
    } catch (const std::exception& e) {
      log::line(
          LogLevel::kError,
          "the recording could not be ended properly (%s); if the last trace is missing, run  profshim recover %s",
          e.what(), r.plan.folder.c_str());
    }
    ending_signals::end();
  }
  if (ending_signals::arrived() != 0) ending_signals::end_process();
  phase.store(Phase::kFinished);
}

// Takes no lock and allocates nothing: the caller may be a signal handler of the job.
void await_end(const Recording& r, End how) {
  if (finisher.load() == static_cast<pid_t>(syscall(SYS_gettid))) return;  // a signal handler on the finishing thread
  const std::int64_t began = monotonic_ns();
  std::int64_t last_progress = began;
  std::uint64_t seen = r.queue.progress.load();
  while (phase.load() != Phase::kFinished) {
    const timespec pause{0, 500'000};
    syscall(SYS_nanosleep, &pause, nullptr);
    const std::int64_t now = monotonic_ns();
    if (const std::uint64_t count = r.queue.progress.load(); count != seen) {
      seen = count;
      last_progress = now;
    }
    if (now - last_progress > patience_ns(r.plan, how) + kSecond_ns) return;
    if (how == End::kReplaced && now - began > exit_ns(r.plan) + kSecond_ns) return;
  }
}

}  // namespace

void end_if_asked(Recording& r) {
  if (ending_signals::arrived() != 0) {
    end_here(r, End::kSignal);
  } else if (r.life.is_end_asked()) {
    end_here(r, r.life.how_asked());
  }
}

Recording* live() {
  return phase.load(std::memory_order_acquire) == Phase::kRecording ? the_recording.load(std::memory_order_acquire)
                                                                    : nullptr;
}

void leave_parent() {
  the_recording = nullptr;
  owner = finisher = 0;
  forget_uses();
  forget_earlier_markers();
  ending_signals::leave_parent();
  log::leave_parent();
  call_stack::leave_parent();
  recorder::leave_parents_spool();
  device::abandon_in_child();
}

void activate(const Rank& rank, Ticks began) {
  Phase idle = Phase::kIdle;
  if (!requested() || !phase.compare_exchange_strong(idle, Phase::kStarting)) return;
  const int saved_errno = errno;
  owner.store(getpid());
  Recording* r = nullptr;
  sigset_t job_signals;
  pthread_sigmask(SIG_SETMASK, nullptr, &job_signals);
  const SignalGuard guard;
  const Uninterrupted no_handler_of_the_job;
  try {
    r = begin_recording(rank, job_signals);
  } catch (const std::exception& e) {
    log::line(LogLevel::kError, "nothing is recorded: %s", e.what());
    recorder::set_mode(0, ~0u);
  }
  if (r == nullptr) {
    phase.store(Phase::kInert);
    ending_signals::end();
    if (ending_signals::arrived() != 0) ending_signals::end_process();
  } else {
    register_ends();
    // disarm() must precede the first step, whose window it would end.
    if (r->steps.is_window_near(-1, 0)) device::disarm(0, device::NextWindow::kNear);
    the_recording.store(r, std::memory_order_release);
    phase.store(Phase::kRecording, std::memory_order_release);
    device::listen({on_kernel_launch, on_graph_launch, on_profiler_range});
    r->phases.prepare_detail();
    recorder::set_mode(mode_bits(r->plan.spec) | r->steps.rule().mode_bits(), 0);
    if (r->finder != nullptr) {
      r->finder->begin();
    } else {
      r->steps.begin(began);
    }
  }
  errno = saved_errno;
}

void finish(End how) {
  if (owner.load() != getpid()) return;  // a vforked child shares this memory
  const Phase now = phase.load();
  if (now != Phase::kRecording && now != Phase::kFinishing) return;
  Recording& r = *the_recording.load();
  const int saved_errno = errno;
  // Without the library the process would have ended before another thread cancels this one. A failed exec*() goes on.
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  if (how == End::kNormal || r.life.is_collector()) {
    end_here(r, how);
  } else {
    r.life.ask_to_end(how);
  }
  if (!r.life.is_collector()) await_end(r, how);
  errno = saved_errno;
  if (how == End::kReplaced) pthread_setcancelstate(cancel_state, nullptr);
}

namespace {

/// Calls report(spec, rank) if the spec selects this process, of which nothing was recorded.
template <class Report>
void report_unrecorded(const Report& report) {
  if (phase.load() != Phase::kIdle || !requested()) return;
  try {
    const LoadedSpec loaded = load_own_spec();
    const Rank rank = rank_by_source(loaded.spec, rank_from_environment());
    set_up_log(loaded.spec);
    report_problems(loaded, rank);
    if (!loaded.ok() || !loaded.enabled || !is_process_selected(loaded.spec)) return;
    if (rank.rank >= 0 && !(records(loaded.spec, rank) && is_first_selected(loaded.spec, rank))) return;
    report(loaded.spec, rank);
  } catch (const std::exception& e) {
    log::line(LogLevel::kWarn, "nothing was recorded: %s", e.what());
  }
}

}  // namespace

void report_never_activated(const char* library) {
  report_unrecorded([library](const Spec& spec, const Rank& rank) {
    if (const std::string uses = uses_in_vain(spec); !uses.empty()) {
      // A helper of the job, such as a tokenizer, also uses PyTorch.
      if (rank.rank < 0) return;
      return log::line(LogLevel::kWarn,
                       "nothing was recorded: this process used %s, which process.require_any does not name",
                       uses.c_str());
    }
    log::line(LogLevel::kWarn,
              "nothing was recorded: %s is loaded, but this process showed neither a rank nor a step before it ended; "
              "to see why, run  profshim doctor -- %s",
              library, program_name().c_str());
    for (const UnseenCalls& unseen : unseen_calls()) log::line(LogLevel::kWarn, "%s", unseen.sentence.c_str());
  });
}

void report_nothing_used() {
  report_unrecorded([](const Spec&, const Rank&) {
    const std::string name = program_name();
    log::line(LogLevel::kWarn,
              "nothing was recorded: process %d (%s) used no MPI, NCCL, CUDA or PyTorch; process.require_any = "
              "[\"start\"] with process.match = [\"%s\"] records its Python calls (capture.python_calls = true), NVTX "
              "ranges or functions (steps.source = \"symbol\")",
              static_cast<int>(getpid()), name.c_str(), ("*" + name + "*").c_str());
  });
}

bool ends_with_this_process() {
  const Recording* const r = live();
  return r != nullptr && r->plan.spec.output.exit_seconds > 0 && owner.load() == getpid();
}

void flush() {
  if (Recording* const r = live()) r->queue.wake.notify_all();
}

std::vector<std::string> step_ranges() {
  if (phase.load() != Phase::kIdle || !requested()) return {};
  try {
    const Spec spec = load_own_spec().spec;
    if (spec.steps.source != StepSource::kAuto && spec.steps.source != StepSource::kTorch) return {};
    return ranges_of_ranks(spec);
  } catch (...) {
    return {};
  }
}

void call_when_arming(void (*function)(bool armed)) {
  if (Recording* const r = live()) r->recording_switch.call_when_arming(function);
}

bool only_searches() {
  const Recording* const r = live();
  return r != nullptr && r->steps.only_searches();
}

void measure_cost_with(Layer layer, double (*measure)()) {
  if (Recording* const r = live()) r->costs.measure_with(layer, measure);
}

void call_every_tick(void (*function)()) {
  if (Recording* const r = live()) r->tick_functions.add(function);
}

bool may_show_inputs() {
  const Recording* const r = live();
  if (r == nullptr) return false;
  const auto shows = [](const Detail& detail) { return detail.record_shapes || detail.with_flops; };
  return shows(r->plan.spec) || r->phases.any_detail(shows);
}

const Spec* spec() {
  const Recording* const r = live();
  return r != nullptr ? &r->plan.spec : nullptr;
}

}  // namespace profshim::session
