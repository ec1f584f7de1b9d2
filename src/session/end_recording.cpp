#include "end_recording.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

#include "cpu_limit.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/output/once_per_job.h"
#include "session/steps/window_control.h"
#include "session/write/closing_report.h"
#include "session/write/finish_runner.h"
#include "spool_place.h"

namespace profshim::session {

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 2 * kSecond_ns;
constexpr std::int64_t kNormalPatience_ns = 30 * kSecond_ns;
constexpr std::int64_t kLookEvery_ns = 20'000'000;
constexpr std::int64_t kSilence_ns = 2 * kSecond_ns;  // a wait this short needs no line

}  // namespace

std::int64_t exit_ns(const State& s) { return s.spec.output.exit_seconds * kSecond_ns; }

std::int64_t patience_ns(const State& s, End how) {
  return std::max(exit_ns(s), how == End::kNormal ? kNormalPatience_ns : kAbruptPatience_ns);
}

namespace {

/// The thread that ends the recording waits for the writer.
class WaitForWriter {
 public:
  WaitForWriter(State& s, End how, const ending_signals::Blocked& blocked) : s_(s), how_(how), blocked_(blocked) {}

  /// Returns false if the writer was too slow.
  bool wait() {
    std::unique_lock lock(s_.mutex);
    while (!s_.progress.wait_for(lock, kLookEvery_ns, [this] { return s_.writer_done; })) {
      lock.unlock();
      const bool must_end = blocked_.look() || is_too_late() || !has_cpu_time();
      if (!must_end) say_what_it_waits_for();
      lock.lock();
      if (must_end) return s_.writer_done;
    }
    return true;
  }

 private:
  bool is_too_late() {
    const std::int64_t now = monotonic_ns();
    if (const std::uint64_t count = s_.progress_count.load(); count != seen_) {
      seen_ = count;
      last_progress_ns_ = now;
    }
    if (now - last_progress_ns_ > patience_ns(s_, how_)) return true;
    if (ending_signals::arrived() != 0) return now > ending_signals::arrived_at_ns() + exit_ns(s_);
    if (handler_waiting_since_ns_ == 0 && handler_waits()) handler_waiting_since_ns_ = now;
    if (handler_waiting_since_ns_ != 0 && now > handler_waiting_since_ns_ + exit_ns(s_)) return true;
    return how_ == End::kReplaced && now > began_ns_ + exit_ns(s_);
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
    const std::uint64_t waiting = s_.windows_waiting.load();
    if (is_said_ || waiting < 2 || monotonic_ns() - began_ns_ < kSilence_ns) return;
    is_said_ = true;
    if (s_.spec.output.write_all) {
      log::line(LogLevel::kWarn, "the job has ended, %llu more windows are being written; Ctrl-C twice ends this",
                static_cast<unsigned long long>(waiting));
    } else {
      log::line(LogLevel::kWarn,
                "the job has ended, %llu more windows wait to be written: none is begun %lld s after the end "
                "(output.exit_seconds); Ctrl-C twice ends this",
                static_cast<unsigned long long>(waiting), static_cast<long long>(s_.spec.output.exit_seconds));
    }
  }

  State& s_;
  const End how_;
  const ending_signals::Blocked& blocked_;
  const std::int64_t began_ns_ = monotonic_ns();
  std::int64_t last_progress_ns_ = began_ns_;
  std::uint64_t seen_ = s_.progress_count.load();
  std::int64_t handler_waiting_since_ns_ = 0;
  bool is_said_ = false;
};

void log_unfinished(const State& s) {
  if (recorder::path().empty()) {
    log::line(LogLevel::kWarn,
              "the last trace could not be finished in time, its events are lost: raise output.exit_seconds");
  } else {
    log::line(LogLevel::kWarn, "the last trace could not be finished in time: run  profshim recover %s",
              s.folder.c_str());
  }
}

}  // namespace

void end_recording(State& s, End how, const ending_signals::Blocked& blocked) {
  recorder::set_mode(0, recorder::kArmed);
  close_at_exit(s, ticks());
  s.gpu_sampler.stop();
  // recorder::intern() works only until the mode is 0.
  device::finish(how != End::kNormal);
  call_stack::define_modules();
  recorder::set_mode(0, ~0u);
  // The job now waits for the writer. setpriority() fails for most users: they may not lower a nice value.
  setpriority(PRIO_PROCESS, static_cast<id_t>(s.writer_tid.load()), 0);
  {
    std::lock_guard lock(s.mutex);
    s.stop = true;
    if (!s.spec.output.write_all) s.begin_until_ns = monotonic_ns() + exit_ns(s);
  }
  s.wake.notify_all();
  s.progress.notify_all();
  if (!WaitForWriter(s, how, blocked).wait()) return log_unfinished(s);
  recorder::header().finished.store(1);
  log_outcome(s);
  const bool is_all_written = s.failed.load() == 0 && s.windows_waiting.load() == 0;
  if (is_all_written) remove_spool(s);  // else `profshim recover` needs it
  output::release_claim(s.folder, s.rank.rank);
  output::leave_meeting(s.meeting_file, s.run_name, s.folder);
  output::remove_job_lines(s.folder, recorder::header().base_time_ns);
  if (s.finish != nullptr) s.finish->at_end(how, blocked);
  if (how == End::kNormal) {
    // The caller is the collector thread if the job's threads have ended.
    if (!pthread_equal(pthread_self(), s.collector_thread)) pthread_join(s.collector_thread, nullptr);
    pthread_join(s.writer_thread, nullptr);
  }
}

}  // namespace profshim::session
