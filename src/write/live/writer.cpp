#include "profshim/write/writer.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "dead_spools.h"
#include "disk_watch.h"
#include "finish_runner.h"
#include "live_writer.h"
#include "profshim/base/threads/signal_guard.h"

namespace profshim::write {

struct Writer::Impl {
  Impl(WritePlan what, WindowQueue& windows_queue, TraceSize& size, LiveRecording& live)
      : plan(std::move(what)),
        queue(windows_queue),
        trace_size(size),
        recording(live),
        view(spool::View::in_memory(plan.spool, plan.spool_bytes, why_no_view)),
        windows(plan, *view),
        finish(plan, queue, windows) {}

  static void* run(void* self);
  void write_until_stopped();
  bool must_stop() {
    const std::lock_guard lock(mutex);
    return is_stopped;
  }

  const WritePlan plan;
  WindowQueue& queue;
  TraceSize& trace_size;
  LiveRecording& recording;
  std::string why_no_view;
  const std::unique_ptr<spool::View> view;
  WrittenWindows windows;
  FinishRunner finish;
  std::string last_table;

  pthread_t thread{};
  std::atomic<pid_t> tid{0};
  std::mutex mutex;
  FutexEvent ended;
  bool is_stopped = false, has_ended = false;  // guarded by mutex
  std::atomic<std::int64_t> begin_until_ns{kNoEnd};
};

Writer::Writer(WritePlan plan, WindowQueue& queue, TraceSize& trace_size, LiveRecording& recording)
    : impl_(std::make_unique<Impl>(std::move(plan), queue, trace_size, recording)) {}

Writer::~Writer() = default;

int Writer::start() { return start_thread(impl_->thread, Impl::run, impl_.get()); }

pid_t Writer::thread_id() const { return impl_->tid.load(); }

void Writer::stop(std::int64_t begin_until_ns) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_stopped = true;
    impl_->begin_until_ns = begin_until_ns;
  }
  impl_->queue.wake.notify_all();
}

bool Writer::wait_for_end(std::int64_t most_ns) {
  std::unique_lock lock(impl_->mutex);
  return impl_->ended.wait_for(lock, most_ns, [this] { return impl_->has_ended; });
}

void Writer::join() { pthread_join(impl_->thread, nullptr); }

Outcome Writer::outcome() const {
  Outcome outcome = impl_->windows.outcome();
  outcome.last_table = impl_->last_table;
  return outcome;
}

void Writer::run_finish_command(bool waits, const MayWait& may_wait) { impl_->finish.at_end(waits, may_wait); }

void* Writer::Impl::run(void* self) {
  static_cast<Impl*>(self)->write_until_stopped();
  return nullptr;
}

void Writer::Impl::write_until_stopped() {
  prctl(PR_SET_NAME, "profshim-write");
  tid.store(static_cast<pid_t>(syscall(SYS_gettid)));
  // On Linux, niceness is per thread; the compressing threads inherit it.
  setpriority(PRIO_PROCESS, static_cast<id_t>(tid.load()), plan.spec.output.niceness);
  LiveWriter writer(plan, queue, trace_size, recording, *view, windows);
  DiskWatch disk(plan, queue, recording, *view);
  writer.save_manifest("skip");
  DeadSpools dead_spools(plan, queue, windows, recording.spare_bytes(), [this] { return must_stop(); });
  std::unique_lock lock(mutex);
  for (;;) {
    const bool is_last_round = is_stopped;
    lock.unlock();
    writer.publish_all(begin_until_ns);
    finish.tick();
    disk.check(recording.is_armed());
    if (!is_last_round) {
      recording.do_idle_work();
      writer.measure_size();
      writer.refresh_manifest();
      writer.show_life();
      writer.remove_spool_if_over();
      dead_spools.recover_next();
    }
    lock.lock();
    if (is_last_round) break;
    queue.wake.wait_for(lock, 250'000'000, [&] {
      return is_stopped || writer.has_work() || recording.has_idle_work() || trace_size.wants_measure();
    });
  }
  lock.unlock();
  writer.save_manifest("finished");
  last_table = writer.last_table();
  lock.lock();
  has_ended = true;
  ended.notify_all();
}

}  // namespace profshim::write
