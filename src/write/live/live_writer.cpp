#include "live_writer.h"

#include <time.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "profshim/base/clock.h"
#include "profshim/base/log.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/once_per_job.h"
#include "profshim/run/run_folder.h"

namespace profshim::write {

using run::ManifestWindow;

LiveWriter::LiveWriter(const WritePlan& plan, WindowQueue& queue, TraceSize& trace_size, LiveRecording& recording,
                       const spool::View& view, WrittenWindows& windows)
    : plan_(plan),
      queue_(queue),
      trace_size_(trace_size),
      recording_(recording),
      view_(view),
      windows_(windows),
      in_spool_(view),
      last_sign_ns_(monotonic_ns()) {}

spool::Window& LiveWriter::window(std::uint64_t number) const {
  return reinterpret_cast<spool::Window*>(plan_.spool + view_.header().windows_at)[number % spool::kMaxWindows];
}

void LiveWriter::publish_all(const std::atomic<std::int64_t>& begin_until_ns) {
  while (may_begin(begin_until_ns.load()) && publish_next()) queue_.progress.fetch_add(1, std::memory_order_relaxed);
}

/// True for one window at least after the job has ended.
bool LiveWriter::may_begin(std::int64_t begin_until_ns) {
  queue_.waiting.store(in_spool_.waiting());
  if (begin_until_ns == kNoEnd) return true;
  const bool is_first = !has_begun_at_end_;
  has_begun_at_end_ = true;
  return is_first || monotonic_ns() < begin_until_ns;
}

bool LiveWriter::publish_next() {
  const std::optional<std::uint64_t> number = in_spool_.next();
  if (!number) return false;
  spool::Window& w = window(*number);
  const spool::WindowState state = w.state.load(std::memory_order_acquire);
  if (state == spool::WindowState::kClosed) {
    wait_for_device(w.end.load(std::memory_order_acquire));
    publish(w);
  }
  if (state == spool::WindowState::kDropped) windows_.count_discarded();
  if (state != spool::WindowState::kPublished && whole_steps(view_, w) == 0) windows_.count_without_step();
  if (w.first_mark != spool::kNoMark) queue_.marks_published.store(w.end_mark, std::memory_order_release);
  queue_.done.fetch_add(1, std::memory_order_release);
  in_spool_.finish(*number);
  return true;
}

// A kernel may end long after its window. The device thread bounds the wait by giving up.
void LiveWriter::wait_for_device(Ticks window_end) {
  while (!recording_.has_settled(window_end)) {
    queue_.progress.fetch_add(1, std::memory_order_relaxed);
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

void LiveWriter::publish(spool::Window& w) {
  recording_.complete_spool();
  PublishOptions options;
  options.folder = plan_.folder;
  const std::optional<EventCosts> costs = event_costs();
  if (costs) options.costs = &*costs;
  const ClockMap clock(view_.anchors(), view_.header().clock);
  options.stall_us = static_cast<double>(queue_.stall_ticks.exchange(0)) / clock.ticks_per_ns() / 1000;
  options.gzip_threads = std::min({4, static_cast<int>(std::thread::hardware_concurrency()), plan_.gzip_threads});
  options.on_progress = [this] {
    queue_.progress.fetch_add(1, std::memory_order_relaxed);
    show_life();
  };
  options.on_file = [&w](std::uint64_t inode) { w.file.store(inode, std::memory_order_release); };
  options.gathering = &queue_.gathering;
  const std::uint64_t spare = recording_.spare_bytes(), most = plan_.spec.limits.host_memory;
  options.summary_bytes = std::min(most / 16, spare / 4);
  options.memory_page_bytes = std::min(most / 8, spare / 4);
  options.on_summary = [this](SummaryEntry entry) { summary_.push_back(std::move(entry)); };
  if (plan_.is_first_selected) options.on_table = [this](std::string text) { last_table_ = std::move(text); };
  options.cpu = recording_.cpu_use(w.number);
  run::ManifestWindow result;
  try {
    result = publish_window(view_, w.number, plan_.spec, options);
  } catch (const std::exception& e) {
    result.window = static_cast<std::int64_t>(w.number);
    result.status = std::string("failed: ") + e.what();
  }
  // A failed window keeps its events for `profshim recover`.
  if (!run::has_failed(result)) w.state.store(spool::WindowState::kPublished, std::memory_order_release);
  note(result);
}

// The costs of stacks and inputs vary: -1 = unknown.
std::optional<EventCosts> LiveWriter::event_costs() const {
  std::optional<EventCosts> costs = recording_.event_costs();
  if (!costs) return costs;
  const Spec& spec = plan_.spec;
  if (spec.with_stack || spec.native_stack) std::fill(std::begin(costs->of_layer), std::end(costs->of_layer), -1.0);
  if (spec.python_calls) costs->of_layer[static_cast<std::size_t>(Layer::kPython)] = -1;
  if (spec.record_shapes) costs->of_layer[static_cast<std::size_t>(Layer::kTorch)] = -1;
  return costs;
}

void LiveWriter::note(const run::ManifestWindow& result) {
  if (run::has_failed(result) && windows_.failed() == 0) log_failed(result);
  if (result.status == "written") {
    log::line(LogLevel::kInfo, "window %lld: %s (%llu events)", static_cast<long long>(result.window),
              result.file.c_str(), static_cast<unsigned long long>(result.events));
  }
  if (!result.summary.empty()) log_not_in_summary(result);
  if (result.memory_page.starts_with("failed")) {
    log::line(LogLevel::kWarn, "window %lld has no page of its memory (%s): run  profshim report --memory %s/%s",
              static_cast<long long>(result.window), result.memory_page.c_str(), plan_.folder.c_str(),
              result.file.c_str());
  }
  windows_.count(result);
  windows_.add(result);
  // While other windows wait, the lists may take a fifth of the time: they grow with each window.
  constexpr std::int64_t kShare = 5;
  const bool is_due = monotonic_ns() - last_manifest_ns_ >= kShare * windows_.saving_ns();
  if (is_due || !in_spool_.next(static_cast<std::uint64_t>(result.window))) save_manifest(current_state());
  windows_.remove_old();
}

void LiveWriter::log_failed(const run::ManifestWindow& window) const {
  if (!run::speaks_for_job(plan_.rank, plan_.folder, "failed", view_.header().base_time_ns)) return;
  const std::string kept = plan_.spool_path.empty() ? "; its events are lost"
                                                    : "; its events are kept: when the job has ended, run  profshim "
                                                      "recover " +
                                                          plan_.folder;
  log::line(LogLevel::kWarn, "window %lld could not be written into %s: %s%s", static_cast<long long>(window.window),
            plan_.folder.c_str(), window.status.c_str() + 8, kept.c_str());
}

void LiveWriter::log_not_in_summary(const run::ManifestWindow& window) const {
  log::line(LogLevel::kWarn, "window %lld is missing in the summary (%s): run  profshim summary %s/%s",
            static_cast<long long>(window.window), window.summary.c_str(), plan_.folder.c_str(), window.file.c_str());
}

void LiveWriter::write_summary() {
  if (summary_.empty()) return;
  const int error = add_to_summary(plan_.folder, -1, plan_.rank.rank, summary_);
  for (run::ManifestWindow& window : windows_.all()) {
    const bool is_new = std::any_of(summary_.begin(), summary_.end(),
                                    [&window](const auto& entry) { return entry.file == window.file; });
    if (error == 0 || !is_new || window.is_earlier) continue;
    window.summary = std::string("failed: ") + error_text(error);
    log_not_in_summary(window);
  }
  summary_.clear();
}

void LiveWriter::measure_size() {
  const std::uint64_t until = trace_size_.start_measure();
  const std::optional<std::uint64_t> number = until != 0 ? in_spool_.open_window_of_steps() : std::nullopt;
  if (!number) return;
  const Ticks since = std::max(view_.window(*number).begin, measured_at_), now = ticks();
  recording_.complete_stacks();
  try {
    const std::lock_guard no_chunk_changes_hands(queue_.gathering);
    const kineto::SampledSize size =
        kineto::sample_size(view_, *number, since, static_cast<std::uint64_t>(plan_.spec.limits.memory_entries));
    if (size.bytes_per_event == 0) return;
    trace_size_.measured(until, size.fixed_bytes, size.bytes_per_event);
    measured_at_ = now;
  } catch (const std::exception&) {  // no memory: the last measurement stays valid
  }
}

void LiveWriter::save_manifest(const char* state) {
  write_summary();
  windows_.save(state);
  last_state_ = state;
  last_manifest_ns_ = monotonic_ns();
}

void LiveWriter::refresh_manifest() {
  const char* const state = current_state();
  if (state == last_state_) {
    if (monotonic_ns() - last_manifest_ns_ < 1'000'000'000) return;
    const auto written = static_cast<std::uint64_t>(windows_.manifest().steps_seen);
    if (view_.header().steps_seen.load() == written) return;
  }
  save_manifest(state);
}

const char* LiveWriter::current_state() const {
  if (in_spool_.is_any_open()) return "active";
  return recording_.is_armed() ? "warmup" : "skip";
}

void LiveWriter::show_life() {
  constexpr std::int64_t kEvery_ns = 5'000'000'000;
  const std::int64_t now = monotonic_ns();
  if (now - last_sign_ns_ < kEvery_ns) return;
  last_sign_ns_ = now;
  run::touch_claim(plan_.folder, plan_.rank.rank);
}

void LiveWriter::remove_spool_if_over() {
  if (queue_.is_spool_removed.load() || !queue_.is_over.load()) return;
  if (!in_spool_.are_all_finished() || windows_.failed() > 0) return;
  recording_.remove_spool();
  windows_.forget_spool();
  queue_.is_spool_removed.store(true);
  save_manifest(current_state());
}

}  // namespace profshim::write
