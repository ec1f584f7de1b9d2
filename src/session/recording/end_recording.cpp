#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

#include "profshim/base/log.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"
#include "profshim/run/once_per_job.h"
#include "profshim/run/run_folder.h"
#include "session/signals/cpu_limit.h"
#include "stages.h"

namespace profshim::session {

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 2 * kSecond_ns;
constexpr std::int64_t kNormalPatience_ns = 30 * kSecond_ns;
constexpr std::int64_t kLookEvery_ns = 20'000'000;
constexpr std::int64_t kSilence_ns = 2 * kSecond_ns;  // a wait this short needs no line

}  // namespace

std::int64_t exit_ns(const Plan& plan) { return plan.spec.output.exit_seconds * kSecond_ns; }

std::int64_t patience_ns(const Plan& plan, End how) {
  return std::max(exit_ns(plan), how == End::kNormal ? kNormalPatience_ns : kAbruptPatience_ns);
}

namespace {

/// The thread that ends the recording waits for the writer.
class WaitForWriter {
 public:
  WaitForWriter(const Recording& r, End how, const ending_signals::Blocked& blocked)
      : r_(r), how_(how), blocked_(blocked) {}

  /// Returns false if the writer was too slow.
  bool wait() {
    while (!r_.writer->wait_for_end(kLookEvery_ns)) {
      if (blocked_.look() || is_too_late() || !has_cpu_time()) return r_.writer->wait_for_end(0);
      say_what_it_waits_for();
    }
    return true;
  }

 private:
  bool is_too_late() {
    const std::int64_t now = monotonic_ns();
    if (const std::uint64_t count = r_.queue.progress.load(); count != seen_) {
      seen_ = count;
      last_progress_ns_ = now;
    }
    if (now - last_progress_ns_ > patience_ns(r_.plan, how_)) return true;
    if (ending_signals::arrived() != 0) return now > ending_signals::arrived_at_ns() + exit_ns(r_.plan);
    if (handler_waiting_since_ns_ == 0 && handler_waits()) handler_waiting_since_ns_ = now;
    if (handler_waiting_since_ns_ != 0 && now > handler_waiting_since_ns_ + exit_ns(r_.plan)) return true;
    return how_ == End::kReplaced && now > began_ns_ + exit_ns(r_.plan);
  }

  /// True if a handler of the job could run on this thread.
  static bool handler_waits() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1 ||
           sigismember(&pending, SIGHUP) == 1;
  }

  /// The writer must not use up what the job itself did not: its exit status would be that of SIGXCPU or SIGKILL.
  static bool has_cpu_time() {
    const bool soft = ending_signals::arrived() == 0;
    return cpu_limit::left_ns(soft) > cpu_limit::kReserve_ns;
  }

  void say_what_it_waits_for() {
    const std::uint64_t waiting = r_.queue.waiting.load();
    if (is_said_ || waiting < 2 || monotonic_ns() - began_ns_ < kSilence_ns) return;
    is_said_ = true;
    if (r_.plan.spec.output.write_all) {
      log::line(LogLevel::kWarn, "the job has ended, %llu more windows are being written; Ctrl-C twice ends this",
                static_cast<unsigned long long>(waiting));
    } else {
      log::line(LogLevel::kWarn,
                "the job has ended, %llu more windows wait to be written: none is begun %lld s after the end "
                "(output.exit_seconds); Ctrl-C twice ends this",
                static_cast<unsigned long long>(waiting), static_cast<long long>(r_.plan.spec.output.exit_seconds));
    }
  }

  const Recording& r_;
  const End how_;
  const ending_signals::Blocked& blocked_;
  const std::int64_t began_ns_ = monotonic_ns();
  std::int64_t last_progress_ns_ = began_ns_;
  std::uint64_t seen_ = r_.queue.progress.load();
  std::int64_t handler_waiting_since_ns_ = 0;
  bool is_said_ = false;
};

void log_unfinished(const Plan& plan) {
  if (recorder::path().empty()) {
    log::line(LogLevel::kWarn, "not everything could be written in time, the rest is lost: raise output.exit_seconds");
  } else {
    log::line(LogLevel::kWarn, "not everything could be written in time: run  profshim recover %s",
              plan.folder.c_str());
  }
}

/// Tells how long the end of the job may wait for finish.command.
class FinishWait {
 public:
  FinishWait(const Plan& plan, End how, const ending_signals::Blocked& blocked)
      : exit_ns_(exit_ns(plan)), how_(how), blocked_(blocked) {}

  bool operator()(std::int64_t began_ns, std::int64_t most_ns) const {
    blocked_.look();
    const bool was_signaled = ending_signals::arrived() != 0;
    const std::int64_t from = was_signaled ? ending_signals::arrived_at_ns() : began_ns;
    const bool is_normal = how_ == End::kNormal && !was_signaled;
    return monotonic_ns() - from <= (is_normal ? most_ns : std::min(most_ns, exit_ns_));
  }

 private:
  const std::int64_t exit_ns_;
  const End how_;
  const ending_signals::Blocked& blocked_;
};

void close_windows_at_exit(Recording& r, Ticks now) {
  if (r.finder != nullptr) r.finder->finish();
  r.steps.take_over(now);
  r.phases.close_at_exit(now);
  r.steps.close_at_exit(now);
}

}  // namespace

void end_recording(Recording& r, End how, const ending_signals::Blocked& blocked) {
  const Plan& plan = r.plan;
  recorder::set_mode(0, recorder::kArmed);
  close_windows_at_exit(r, ticks());
  r.gpu_sampler.stop();
  // recorder::intern() works only until the mode is 0.
  device::finish(how != End::kNormal);
  call_stack::define_modules();
  recorder::set_mode(0, ~0u);
  // The job now waits for the writer. setpriority() fails for most users: they may not lower a nice value.
  setpriority(PRIO_PROCESS, static_cast<id_t>(r.writer->thread_id()), 0);
  r.life.stop();
  r.writer->stop(plan.spec.output.write_all ? write::kNoEnd : monotonic_ns() + exit_ns(plan));
  if (!WaitForWriter(r, how, blocked).wait()) return log_unfinished(plan);
  recorder::header().finished.store(1);
  log_outcome(r);
  const bool is_all_written = r.writer->outcome().failed == 0 && r.queue.waiting.load() == 0;
  if (is_all_written) remove_spool(plan, r.place);  // else `profshim recover` needs it
  run::release_claim(plan.folder, plan.rank.rank);
  run::leave_rendezvous(plan.rendezvous_file, plan.run_name, plan.folder);
  run::remove_job_lines(plan.folder, recorder::header().base_time_ns);
  r.writer->run_finish_command(how != End::kReplaced, FinishWait(plan, how, blocked));
  if (how == End::kNormal) {
    // The caller is the collector thread if the job's threads have ended.
    if (!r.life.is_collector()) pthread_join(r.life.collector, nullptr);
    r.writer->join();
  }
}

}  // namespace profshim::session
