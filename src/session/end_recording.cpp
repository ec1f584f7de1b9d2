#include "end_recording.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

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

}  // namespace

std::int64_t exit_ns(const State& s) { return s.spec.output.exit_seconds * kSecond_ns; }

std::int64_t patience_ns(const State& s, End how) {
  return std::max(exit_ns(s), how == End::kNormal ? kNormalPatience_ns : kAbruptPatience_ns);
}

namespace {

// 0 = no deadline.
std::int64_t deadline_ns(const State& s, End how, std::int64_t began_ns) {
  if (ending_signals::arrived() != 0) return ending_signals::arrived_at_ns() + exit_ns(s);
  return how == End::kReplaced ? began_ns + exit_ns(s) : 0;
}

bool wait_for_writer(State& s, End how, const ending_signals::Blocked& blocked) {
  std::unique_lock lock(s.mutex);
  std::uint64_t seen = s.progress_count.load();
  const std::int64_t began = monotonic_ns();
  std::int64_t last_progress = began;
  while (!s.writer_done) {
    s.progress.wait_for(lock, kLookEvery_ns, [&s] { return s.writer_done; });
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
  }
  s.wake.notify_all();
  s.progress.notify_all();
  if (!wait_for_writer(s, how, blocked)) {
    if (recorder::path().empty()) {
      log::line(LogLevel::kWarn,
                "the last trace could not be finished in time, its events are lost: raise output.exit_seconds");
    } else {
      log::line(LogLevel::kWarn, "the last trace could not be finished in time: run  profshim recover %s",
                s.folder.c_str());
    }
    return;
  }
  recorder::header().finished.store(1);
  log_outcome(s);
  if (s.failed.load() == 0) remove_spool(s);  // else `profshim recover` needs it
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
