#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <thread>

#include "closing_report.h"
#include "dead_spools.h"
#include "finish_runner.h"
#include "profshim/base/text/error_text.h"
#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/output/publish.h"
#include "session/spool_place.h"
#include "session/state.h"
#include "written_windows.h"

namespace profshim::session {
namespace {

spool::Window& window(std::uint64_t number) {
  const spool::SpoolHeader& h = recorder::header();
  return reinterpret_cast<spool::Window*>(const_cast<char*>(recorder::data()) +
                                          h.windows_at)[number % spool::kMaxWindows];
}

bool is_recording(const State& s) { return s.current.load() != nullptr && (recorder::mode() & recorder::kArmed) != 0; }

class Writer {
 public:
  explicit Writer(State& s) : s_(s) { view_ = spool::View::over(recorder::data(), recorder::size(), why_not_); }

  bool publish_next() {
    const std::optional<std::uint64_t> number = next_closed();
    if (!number) return false;
    spool::Window& w = window(*number);
    const spool::WindowState state = w.state.load(std::memory_order_acquire);
    if (state == spool::WindowState::kClosed) {
      wait_for_device(w.end.load(std::memory_order_acquire));
      publish(w);
    }
    if (state == spool::WindowState::kDropped) ++s_.manifest.counts.discarded;
    if (state != spool::WindowState::kPublished && whole_steps(w) == 0) s_.windows_without_step.fetch_add(1);
    if (w.first_mark != spool::kNoMark) s_.marks_published.store(w.end_mark, std::memory_order_release);
    s_.windows_done.fetch_add(1, std::memory_order_release);
    done_.insert(*number);
    while (done_.erase(next_) != 0) ++next_;
    return true;
  }

  /// Only while a window is open: recording hooks cost more.
  void measure_costs() {
    if (is_recording(s_)) s_.costs.measure();
  }

  void measure_size() {
    const std::uint64_t until = s_.trace_size.start_measure();
    const spool::Window* const open = s_.current.load();
    if (until == 0 || open == nullptr) return;
    const std::uint64_t number = open->number;
    const Ticks since = std::max(open->begin, measured_at_), now = ticks();
    if ((recorder::mode() & recorder::kStacks) != 0) call_stack::define_modules();
    try {
      const std::lock_guard no_chunk_changes_hands(s_.gathering);
      const kineto::SampledSize size =
          kineto::sample_size(*view_, number, since, static_cast<std::uint64_t>(s_.spec.limits.memory_entries));
      if (size.bytes_per_event == 0) return;
      s_.trace_size.measured(until, size.fixed_bytes, size.bytes_per_event);
      measured_at_ = now;
    } catch (const std::exception&) {  // no memory: the last measurement stays valid
    }
  }

  bool has_work() const { return next_closed().has_value(); }
  /// True if a window other than `written`, which is being written, waits.
  bool has_other_work(std::uint64_t written) const { return next_closed(written).has_value(); }

  /// Writes closed windows until there are none, or the end of the job allows no more.
  void publish_all() {
    while (may_begin() && publish_next()) s_.progress_count.fetch_add(1, std::memory_order_relaxed);
  }

  void write_manifest(const char* state) {
    const std::int64_t began_ns = monotonic_ns();
    write_summary();
    s_.manifest.state = state;
    s_.manifest.counts.update(recorder::header());
    s_.manifest.steps_seen = static_cast<std::int64_t>(recorder::header().steps_seen.load());
    s_.manifest.updated_ns = realtime_ns();
    s_.manifest.problems.clear();
    for (const spool::Definition* const d : view_->definitions()) {
      if (d->kind.load(std::memory_order_acquire) == spool::DefinitionKind::kProblem) {
        s_.manifest.problems.emplace_back(view_->string(d->name));
      }
    }
    if (const std::string lost = spool::threads_lost_sentence(view_->header()); !lost.empty()) {
      s_.manifest.problems.push_back(lost);
    }
    output::write_manifest(s_.folder, s_.manifest);
    last_state_ = state;
    last_manifest_ns_ = monotonic_ns();
    manifest_took_ns_ = last_manifest_ns_ - began_ns;
  }

  /// Removes the spool early, so that a process killed later leaves none in memory.
  void remove_spool_if_over() {
    const bool steps_over = s_.schedule_over.load() || !s_.records_steps;
    if (s_.spool_removed.load() || !((steps_over && are_phases_over()) || s_.recording_over.load())) return;
    const bool all_written = next_ >= recorder::header().windows.load(std::memory_order_acquire);
    if (s_.current.load() != nullptr || !all_written || s_.failed.load() > 0) return;
    recorder::header().finished.store(1);
    remove_spool(s_);
    s_.manifest.spool.clear();
    s_.spool_removed.store(true);
    write_manifest(current_state());
  }

  /// The age of the claim file shows other hosts and containers that this process lives.
  void touch_claim() {
    constexpr std::int64_t kEvery_ns = 5'000'000'000;
    const std::int64_t now = monotonic_ns();
    if (now - last_sign_ns_ < kEvery_ns) return;
    last_sign_ns_ = now;
    output::touch_claim(s_.folder, s_.rank.rank);
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
  /// Windows of phases may close before windows that were opened earlier.
  std::optional<std::uint64_t> next_closed(std::uint64_t besides = ~std::uint64_t{0}) const {
    const std::uint64_t opened = recorder::header().windows.load(std::memory_order_acquire);
    for (std::uint64_t number = next_; number < opened; ++number) {
      const bool is_open = window(number).state.load(std::memory_order_acquire) == spool::WindowState::kOpen;
      if (!is_open && number != besides && done_.count(number) == 0) return number;
    }
    return std::nullopt;
  }

  /// True for one window at least after the job has ended.
  bool may_begin() {
    s_.windows_waiting.store(closed_windows());
    const std::int64_t until_ns = s_.begin_until_ns.load();
    if (until_ns == kNoEnd) return true;
    const bool is_first = !has_begun_at_end_;
    has_begun_at_end_ = true;
    return is_first || monotonic_ns() < until_ns;
  }

  std::uint64_t closed_windows() const {
    const std::uint64_t opened = recorder::header().windows.load(std::memory_order_acquire);
    std::uint64_t closed = 0;
    for (std::uint64_t number = next_; number < opened; ++number) {
      const bool is_closed = window(number).state.load(std::memory_order_acquire) == spool::WindowState::kClosed;
      closed += is_closed && done_.count(number) == 0 ? 1 : 0;
    }
    return closed;
  }

  bool are_phases_over() const {
    return std::all_of(s_.phase_windows.begin(), s_.phase_windows.end(),
                       [](const auto& phase) { return phase == nullptr || phase->is_over(); });
  }
  bool is_phase_open() const {
    return std::any_of(s_.phase_windows.begin(), s_.phase_windows.end(),
                       [](const auto& phase) { return phase != nullptr && phase->is_open(); });
  }

  /// A window of source "none" counts as one step.
  std::uint64_t whole_steps(const spool::Window& w) const {
    if (w.first_mark == spool::kNoMark) return 1;
    const std::uint64_t begun = w.end_mark - w.first_mark;
    if (begun == 0) return 0;
    const bool is_last_whole = w.ended_by.load(std::memory_order_relaxed) == spool::WindowEnd::kSchedule ||
                               w.last_step_end.load(std::memory_order_relaxed) != 0;
    const std::vector<spool::StepMark> first = view_->marks(w.first_mark, w.first_mark + 1);
    const bool is_first_cut = view_->header().markers_end_steps != 0 && !first.empty() && first.front().index == 0;
    return begun - std::min<std::uint64_t>(begun, (is_last_whole ? 0 : 1) + (is_first_cut ? 1 : 0));
  }

  const char* current_state() const {
    if (s_.current.load() != nullptr || is_phase_open()) return "active";
    return (recorder::mode() & recorder::kArmed) != 0 ? "warmup" : "skip";
  }

  // A kernel may end long after its window. The device thread bounds the wait by giving up.
  void wait_for_device(Ticks window_end) {
    while (!device::settled(window_end)) {
      s_.progress_count.fetch_add(1, std::memory_order_relaxed);
      const timespec pause{0, 2'000'000};
      nanosleep(&pause, nullptr);
    }
  }

  void publish(spool::Window& w) {
    recorder::add_anchor(take_anchor());
    call_stack::define_modules();
    output::PublishOptions options;
    options.folder = s_.folder;
    const std::optional<output::EventCosts> costs = known_costs();
    if (costs) options.costs = &*costs;
    const ClockMap clock(view_->anchors(), view_->header().clock);
    options.stall_us = static_cast<double>(s_.stall_ticks.exchange(0)) / clock.ticks_per_ns() / 1000;
    // malloc reserves 64 MiB of address space for each compressing thread.
    const bool scarce = s_.pool_bound == recorder::Bound::kAddressSpace;
    const std::uint64_t affordable = scarce ? 0 : s_.memory / (16 << 20);
    options.gzip_threads =
        static_cast<int>(std::min<std::uint64_t>({4, std::thread::hardware_concurrency(), affordable}));
    options.on_progress = [this] {
      s_.progress_count.fetch_add(1, std::memory_order_relaxed);
      touch_claim();
    };
    options.on_file = [&w](std::uint64_t inode) { w.file.store(inode, std::memory_order_release); };
    options.gathering = &s_.gathering;
    options.summary_bytes = std::min(s_.spec.limits.host_memory / 16, s_.room->now(0, 0).bytes / 4);
    options.memory_page_bytes = std::min(s_.spec.limits.host_memory / 8, s_.room->now(0, 0).bytes / 4);
    options.on_summary = [this](output::SummaryEntry entry) { summary_.push_back(std::move(entry)); };
    if (s_.first_selected) options.on_table = [this](std::string text) { s_.last_table = std::move(text); };
    options.cpu = s_.cpu.take(w.number, own_threads(s_));
    output::ManifestWindow result;
    try {
      result = output::publish_window(*view_, w.number, s_.spec, options);
    } catch (const std::exception& e) {
      result.window = static_cast<std::int64_t>(w.number);
      result.status = std::string("failed: ") + e.what();
    }
    // A failed window keeps its events for `profshim recover`.
    if (!result.status.starts_with("failed")) w.state.store(spool::WindowState::kPublished, std::memory_order_release);
    note(result);
  }

  // The costs of stacks and inputs vary: -1 = unknown.
  std::optional<output::EventCosts> known_costs() const {
    std::optional<output::EventCosts> costs = s_.costs.known();
    if (!costs) return costs;
    const bool has_stacks = s_.spec.with_stack || s_.spec.native_stack;
    if (has_stacks) std::fill(std::begin(costs->of_layer), std::end(costs->of_layer), -1.0);
    if (s_.spec.python_calls) costs->of_layer[static_cast<std::size_t>(Layer::kPython)] = -1;
    if (s_.spec.record_shapes) costs->of_layer[static_cast<std::size_t>(Layer::kTorch)] = -1;
    return costs;
  }

  void note(const output::ManifestWindow& result) {
    const bool written = result.status == "written";
    {
      std::lock_guard lock(s_.mutex);
      if (written && s_.first_file.empty()) s_.first_file = result.file;
    }
    if (written) s_.written.fetch_add(1);
    if (result.status.starts_with("failed")) log_window_failed(s_, result);
    if (written) {
      log::line(LogLevel::kInfo, "window %lld: %s (%llu events)", static_cast<long long>(result.window),
                result.file.c_str(), static_cast<unsigned long long>(result.events));
    }
    if (!result.summary.empty()) log_not_in_summary(result);
    if (result.memory_page.starts_with("failed")) {
      log::line(LogLevel::kWarn, "window %lld has no page of its memory (%s): run  profshim report --memory %s/%s",
                static_cast<long long>(result.window), result.memory_page.c_str(), s_.folder.c_str(),
                result.file.c_str());
    }
    count(result);
    add_window(s_, result);
    // While other windows wait, the lists may take a fifth of the time: they grow with each window.
    constexpr std::int64_t kShare = 5;
    const bool is_due = monotonic_ns() - last_manifest_ns_ >= kShare * manifest_took_ns_;
    if (is_due || !has_other_work(static_cast<std::uint64_t>(result.window))) write_manifest(current_state());
    remove_old_windows(s_);
  }

  void count(const output::ManifestWindow& result) {
    output::WindowCounts& counts = s_.manifest.counts;
    if (result.status == "written") {
      ++counts.written;
      if (!result.complete) ++counts.incomplete;
    } else if (result.status == "empty") {
      ++counts.empty;
    } else {
      ++counts.failed;
    }
    s_.ended.note(result);
  }

  void log_not_in_summary(const output::ManifestWindow& window) {
    log::line(LogLevel::kWarn, "window %lld is missing in the summary (%s): run  profshim summary %s/%s",
              static_cast<long long>(window.window), window.summary.c_str(), s_.folder.c_str(), window.file.c_str());
  }

  void write_summary() {
    if (summary_.empty()) return;
    const int error = output::add_to_summary(s_.folder, -1, s_.rank.rank, summary_);
    for (output::ManifestWindow& window : s_.manifest.windows) {
      const bool is_new = std::any_of(summary_.begin(), summary_.end(),
                                      [&window](const auto& entry) { return entry.file == window.file; });
      if (error == 0 || !is_new || window.is_earlier) continue;
      window.summary = std::string("failed: ") + error_text(error);
      log_not_in_summary(window);
    }
    summary_.clear();
  }

  State& s_;
  std::string why_not_;
  std::unique_ptr<spool::View> view_;
  std::uint64_t next_ = 0;        // windows before this one are done
  std::set<std::uint64_t> done_;  // later windows that are done
  bool has_begun_at_end_ = false;
  Ticks measured_at_ = 0;
  const char* last_state_ = "";
  std::int64_t last_manifest_ns_ = 0, manifest_took_ns_ = 0, last_sign_ns_ = monotonic_ns();
  std::vector<output::SummaryEntry> summary_;  // not in the file yet
};

}  // namespace

void* run_writer(void* argument) {
  State& s = *static_cast<State*>(argument);
  prctl(PR_SET_NAME, "profshim-write");
  s.writer_tid.store(static_cast<pid_t>(syscall(SYS_gettid)));
  // On Linux, niceness is per thread; the compressing threads inherit it.
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), s.spec.output.niceness);
  Writer writer(s);
  DiskWatch disk(s);
  writer.write_manifest("skip");
  DeadSpools dead_spools(s);
  std::unique_lock lock(s.mutex);
  for (;;) {
    const bool last_round = s.stop;
    lock.unlock();
    writer.publish_all();
    if (s.finish != nullptr) s.finish->tick();
    disk.check((recorder::mode() & recorder::kArmed) != 0);
    if (!last_round) {
      look_for_steps(s);
      writer.measure_costs();
      writer.measure_size();
      writer.refresh_manifest();
      writer.touch_claim();
      writer.remove_spool_if_over();
      dead_spools.recover_next();
    }
    lock.lock();
    if (last_round) break;
    s.wake.wait_for(lock, 250'000'000, [&] {
      return s.stop || writer.has_work() || wants_look_for_steps(s) || s.trace_size.wants_measure() ||
             (is_recording(s) && s.costs.has_more());
    });
  }
  lock.unlock();
  writer.write_manifest("finished");
  lock.lock();
  s.writer_done = true;
  s.progress.notify_all();
  return nullptr;
}

}  // namespace profshim::session
