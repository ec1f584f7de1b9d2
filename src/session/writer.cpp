// The writer thread: turns closed windows into files, one after the other, and keeps the manifest.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/publish.h"
#include "state.h"

namespace profshim::session {
namespace {

spool::Window& window(std::uint64_t number) {
  const spool::SpoolHeader& h = recorder::header();
  return reinterpret_cast<spool::Window*>(const_cast<char*>(recorder::data()) +
                                          h.windows_at)[number % spool::kMaxWindows];
}

class Writer {
 public:
  explicit Writer(State& s) : s_(s) { view_ = spool::View::over(recorder::data(), recorder::size(), why_not_); }

  /// Publishes what is closed; true when it did something.
  bool publish_next() {
    const std::uint64_t opened = recorder::header().windows.load(std::memory_order_acquire);
    if (next_ >= opened) return false;
    spool::Window& w = window(next_);
    const spool::WindowState state = w.state.load(std::memory_order_acquire);
    if (state == spool::WindowState::kOpen) return false;
    if (state == spool::WindowState::kClosed) {
      wait_for_device(w.end.load(std::memory_order_acquire));
      publish(w);
    }
    if (w.first_mark != spool::kNoMark) s_.marks_published.store(w.end_mark, std::memory_order_release);
    ++next_;
    return true;
  }

  bool has_work() const {
    const std::uint64_t opened = recorder::header().windows.load(std::memory_order_acquire);
    return next_ < opened && window(next_).state.load(std::memory_order_acquire) != spool::WindowState::kOpen;
  }

  void write_manifest(const char* state) {
    s_.manifest.state = state;
    s_.manifest.steps_seen = static_cast<std::int64_t>(recorder::header().steps_seen.load());
    s_.manifest.updated_ns = realtime_ns();
    s_.manifest.problems.clear();
    for (const spool::Definition* const d : view_->definitions()) {
      if (d->kind.load(std::memory_order_acquire) == spool::DefinitionKind::kProblem) {
        s_.manifest.problems.emplace_back(view_->string(d->name));
      }
    }
    output::write_manifest(s_.folder, s_.manifest);
    last_state_ = state;
    last_manifest_ns_ = monotonic_ns();
  }

  void refresh_manifest() {
    const char* const state = current_state();
    if (state == last_state_ && monotonic_ns() - last_manifest_ns_ < 1'000'000'000) return;
    if (state == last_state_ &&
        recorder::header().steps_seen.load() == static_cast<std::uint64_t>(s_.manifest.steps_seen))
      return;
    write_manifest(state);
  }

 private:
  const char* current_state() const {
    if (s_.current.load() != nullptr) return "active";
    return (recorder::mode() & recorder::kArmed) != 0 ? "warmup" : "skip";
  }

  // A kernel may end long after the window in which it was launched. Bounded by the device thread, which gives up.
  void wait_for_device(Ticks window_end) {
    while (!device::settled(window_end)) {
      s_.progress_count.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  void publish(spool::Window& w) {
    recorder::add_anchor(take_anchor());
    call_stack::define_modules();
    output::PublishOptions options;
    options.folder = s_.folder;
    options.overhead_ns_per_event = s_.event_cost_ns;
    const ClockMap clock(view_->anchors(), view_->header().clock);
    options.stall_us = static_cast<double>(s_.stall_ticks.exchange(0)) / clock.ticks_per_ns() / 1000;
    // Each compressing thread holds more than a megabyte.
    const std::uint64_t affordable = s_.spec.limits.host_memory / (16 << 20);
    options.gzip_threads =
        static_cast<int>(std::min<std::uint64_t>({4, std::thread::hardware_concurrency(), affordable}));
    options.on_progress = [this] { s_.progress_count.fetch_add(1, std::memory_order_relaxed); };
    options.gathering = &s_.gathering;
    options.cpu = s_.cpu.take(w.number, own_threads(s_));
    output::ManifestWindow result;
    try {
      result = output::publish_window(*view_, w.number, s_.spec, options);
    } catch (const std::exception& e) {
      result.window = static_cast<std::int64_t>(w.number);
      result.status = std::string("failed: ") + e.what();
    }
    w.state.store(spool::WindowState::kPublished, std::memory_order_release);
    note(result);
  }

  void note(const output::ManifestWindow& result) {
    const bool written = result.status == "written";
    {
      std::lock_guard lock(s_.mutex);
      if (written && s_.first_file.empty()) s_.first_file = result.file;
      if (result.status.starts_with("failed") && s_.first_failure.empty()) s_.first_failure = result.status.substr(8);
    }
    if (written) s_.written.fetch_add(1);
    if (result.status.starts_with("failed") && s_.failed.fetch_add(1) == 0) {
      log::line(LogLevel::kWarn, "window %lld could not be written into %s: %s", static_cast<long long>(result.window),
                s_.folder.c_str(), result.status.c_str() + 8);
    }
    if (written) {
      log::line(LogLevel::kInfo, "window %lld: %s (%llu events)", static_cast<long long>(result.window),
                result.file.c_str(), static_cast<unsigned long long>(result.events));
    }
    s_.manifest.windows.push_back(result);
    write_manifest(current_state());
  }

  State& s_;
  std::string why_not_;
  std::unique_ptr<spool::View> view_;
  std::uint64_t next_ = 0;
  const char* last_state_ = "";
  std::int64_t last_manifest_ns_ = 0;
};

}  // namespace

void* run_writer(void* argument) {
  State& s = *static_cast<State*>(argument);
  prctl(PR_SET_NAME, "profshim-write");
  s.writer_tid.store(static_cast<pid_t>(syscall(SYS_gettid)));
  // A nice value is per thread on Linux; the compression threads inherit it.
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), s.spec.output.niceness);
  Writer writer(s);
  writer.write_manifest("skip");
  std::unique_lock lock(s.mutex);
  for (;;) {
    const bool last_round = s.stop;
    lock.unlock();
    while (writer.publish_next()) s.progress_count.fetch_add(1, std::memory_order_relaxed);
    if (!last_round) writer.refresh_manifest();
    lock.lock();
    if (last_round) break;
    s.wake.wait_for(lock, std::chrono::milliseconds(250), [&] { return s.stop || writer.has_work(); });
  }
  lock.unlock();
  writer.write_manifest("finished");
  lock.lock();
  s.writer_done = true;
  s.progress.notify_all();
  return nullptr;
}

}  // namespace profshim::session
