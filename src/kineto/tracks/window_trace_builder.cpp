#include <algorithm>

#include "device_tracks.h"
#include "kineto/left_out.h"
#include "kineto/stacks/call_stacks.h"
#include "kineto/stacks/folded_stacks.h"
#include "kineto/track_names.h"
#include "kineto/window/window_events.h"
#include "process_tracks.h"
#include "profshim/trace/schema.h"
#include "profshim/window_trace.h"
#include "thread_tracks.h"
#include "trace_metadata.h"

namespace profshim::kineto {
namespace {

constexpr std::uint64_t kProgressEvery = 4096;

class NoSink : public ByteSink {
 public:
  bool write(const char*, std::size_t) override { return true; }
  bool close() override { return true; }
};

void name_host_process(TraceWriter& out, const WindowEvents& window) {
  const spool::SpoolHeader& h = window.view.header();
  const std::string label =
      schema::numbered(schema::track::kRankStart, h.rank) + " on " + std::string(window.view.string(h.host));
  const TrackId id{h.pid, h.pid};
  const std::int64_t at_ns = window.clock.unix_ns(window.begin);
  name_process(out, id, at_ns, window.view.string(h.program), label, std::int64_t{h.rank >= 0 ? h.rank : h.pid});
}

void write_window_begin(TraceWriter& out, const WindowEvents& window) {
  const Arg count{schema::arg::kOpCount, window.summary.calls};
  TraceEvent span;
  span.category = Category::kTrace;
  span.name = schema::name::kWindowSpan;  // TensorBoard and HTA take the window from this span
  span.pid_text = schema::name::kSpansPid;
  span.tid_text = schema::name::kProfiler;
  span.text_ids = true;
  span.begin_ns = window.clock.unix_ns(window.begin);
  span.duration_ns = window.clock.unix_ns(window.last_end()) - span.begin_ns;
  span.args = {&count, 1};
  out.write(span);
  TraceEvent start;
  start.phase = schema::phase::kInstant;
  start.scope = schema::scope::kGlobal[0];
  const std::string start_name = std::string(schema::name::kWindowStart) += schema::name::kProfiler;
  start.name = start_name;
  start.pid_text = schema::name::kTracesPid;
  start.tid_text = "Trace PyTorch Profiler";
  start.text_ids = true;
  start.begin_ns = span.begin_ns;
  out.write(start);
}

void write_window_end(TraceWriter& out, const WindowEvents& window) {
  TraceEvent e;
  e.phase = schema::phase::kInstant;
  e.scope = schema::scope::kGlobal[0];
  e.name = schema::name::kWindowEnd;
  e.text_ids = true;
  e.begin_ns = window.clock.unix_ns(window.last_end());
  out.write(e);
}

DeviceTimes device_times(const DeviceActivity& device) {
  DeviceTimes times;
  std::uint32_t hint = 0;
  for (const auto& [key, stream] : device.streams()) {
    for (const Event* const activity : stream.activity) {
      if (const Event* const call = device.call_of(*activity, hint)) times[call] += activity->end - activity->begin;
    }
  }
  return times;
}

}  // namespace

struct WindowTraceBuilder::Impl {
  Impl(const spool::View& view, std::uint64_t window_number, const WindowTraceOptions& given)
      : options(given), window(view, window_number, given), stacks(view, window.definitions, window.detail) {}

  void name_stacks() {
    if (window.definitions.modules().empty()) return;
    for (const auto& [tid, thread] : window.threads) {
      for (const Event* e : thread.events) stacks.add(stack_of(*e));
    }
    stacks.name_addresses();
  }

  bool write(ByteSink& sink, LeftOut* left_out, TraceObserver* observer, const std::function<void()>& on_progress);

  WindowTraceOptions options;
  WindowEvents window;
  CallStacks stacks;
};

WindowTraceBuilder::WindowTraceBuilder(const spool::View& view, std::uint64_t window_number,
                                       const WindowTraceOptions& options)
    : impl_(std::make_unique<Impl>(view, window_number, options)) {}
WindowTraceBuilder::~WindowTraceBuilder() = default;
const WindowSummary& WindowTraceBuilder::summary() const { return impl_->window.summary; }
void WindowTraceBuilder::set_options(const WindowTraceOptions& options) { impl_->options = options; }

bool WindowTraceBuilder::empty() const {
  const WindowEvents& window = impl_->window;
  if (!window.only_life_cycle) return false;
  // A completed step is worth a file even without events.
  return window.steps.empty() ||
         (window.ended_by == spool::WindowEnd::kExit && window.steps.last_step_end() == 0 && window.steps.size() <= 1);
}

bool WindowTraceBuilder::has_stacks() const {
  if ((impl_->window.detail & (spool::kPythonStack | spool::kNativeStack)) == 0) return false;
  return std::any_of(impl_->window.threads.begin(), impl_->window.threads.end(), [](const auto& thread) {
    const auto& events = thread.second.events;
    return std::any_of(events.begin(), events.end(), [](const Event* e) { return stack_of(*e) != 0; });
  });
}

bool WindowTraceBuilder::write(ByteSink& sink, const std::function<void()>& on_progress) {
  impl_->name_stacks();
  TraceObserver* const observer = impl_->options.observer;
  if (!impl_->options.rules.any()) return impl_->write(sink, nullptr, observer, on_progress);
  LeftOut left_out(impl_->options.rules);
  NoSink counts_only;
  impl_->write(counts_only, &left_out, nullptr, on_progress);
  left_out.begin_second_pass();
  return impl_->write(sink, &left_out, observer, on_progress);
}

bool WindowTraceBuilder::Impl::write(ByteSink& sink, LeftOut* left_out, TraceObserver* observer,
                                     const std::function<void()>& on_progress) {
  DeviceTracks device_tracks(window);
  TraceWriter out(sink, trace_metadata(window, options, device_tracks.device_properties(), left_out), left_out,
                  observer);
  name_host_process(out, window);
  write_window_begin(out, window);
  std::uint64_t written = 0;
  const auto count_written = [&] {
    if (++written % kProgressEvery != 0) return;
    if (on_progress) on_progress();
    give_up_if_wanted(options);
  };
  ThreadTracks(window, stacks, device_tracks).write(out, count_written);
  if (!window.device.empty()) device_tracks.write(out, count_written);
  PhaseTracks(window).write(out);
  write_counters(out, window);
  write_window_end(out, window);
  const bool whole = out.finish();
  window.summary.events = out.events();
  return whole;
}

bool WindowTraceBuilder::write_stacks(ByteSink& sink, StacksMetric metric) {
  impl_->name_stacks();
  const DeviceTimes device = metric == StacksMetric::kSelfCpu ? DeviceTimes() : device_times(impl_->window.device);
  const bool of_devices = metric == StacksMetric::kSelfDevice || !device.empty();
  FoldedStacks folded(impl_->window.clock.ticks_per_ns(), of_devices ? &device : nullptr);
  for (const auto& [tid, thread] : impl_->window.threads) folded.add_thread(thread.events);
  return folded.write(impl_->stacks, sink);
}

}  // namespace profshim::kineto
