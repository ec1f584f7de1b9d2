#include "window_events.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "kineto/args/event_args.h"
#include "kineto/phase_marks.h"
#include "kineto/slice_order.h"
#include "profshim/base/threads/shared_words.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

constexpr double kSecondNs = 1e9;

}  // namespace

void give_up_if_wanted(const WindowTraceOptions& options) {
  if (options.give_up && options.give_up()) throw GivenUp();
}

WindowEvents::WindowEvents(const spool::View& v, std::uint64_t number, const WindowTraceOptions& options)
    : view(v),
      window(v.window(number)),
      begin(std::max(window.begin, options.since)),
      definitions(v),
      clock(v.anchors(), v.header().clock),
      device(v),
      nccl_tasks(v),
      annotations(v),
      collectives(v),
      phases(v, definitions) {
  if (!options.only) {
    end = window.end.load(std::memory_order_acquire);
    ended_by = window.ended_by.load(std::memory_order_acquire);
    limit = view.string(window.limit_reason);
  }
  detail = definitions.detail_of_windows(window.phase);
  read_steps();
  if (window.phase != 0) {
    for (const Phase& phase : definitions.phases()) {
      if (phase.id == window.phase) summary.phase = phase.name;
    }
    summary.occurrence = window.occurrence;
  }
  summary.truncated = ended_by == spool::WindowEnd::kLimit;
  gather(options);
  order_threads(options);
  count_calls();
  limit_memory(options.memory_entries);
  give_up_if_wanted(options);
  join_events();
  give_up_if_wanted(options);
  count_dropped();
  const WindowLosses lost = losses();
  summary.missing = missing_in(lost);
  summary.other_losses = other_losses_in(lost);
  summary.complete = summary.missing.empty();
  if (steps.empty()) return;
  const std::int32_t step_tid = view.header().step_tid;
  threads[step_tid != 0 ? step_tid : view.header().pid];  // a track for steps, even without events
}

void WindowEvents::read_steps() {
  const Ticks last_step_end = window.last_step_end.load(std::memory_order_relaxed);
  const spool::SpoolHeader& h = view.header();
  std::vector<spool::StepMark> marks;
  std::vector<PerfReading> counters;
  const bool is_open = ended_by == spool::WindowEnd::kNone;
  const std::uint64_t made = h.marks.load(std::memory_order_acquire);
  const std::uint64_t end_mark = is_open ? made : std::min(window.end_mark, made);
  if (window.first_mark != spool::kNoMark) marks = view.marks(window.first_mark, end_mark);
  if (h.counter_count > 0) {
    for (std::uint64_t n = end_mark - marks.size(); n <= end_mark; ++n) counters.push_back(view.counters(n));
  }
  steps = WindowSteps(std::move(marks), last_step_end, h.markers_end_steps != 0);
  for (const spool::StepMark& mark : view.marks(end_mark, end_mark + 1)) steps.set_next_mark(mark);
  steps.set_counters(std::move(counters));
  if (steps.empty()) return;
  summary.first_step = steps.marks().front().number;
  summary.last_step = steps.marks().back().number;
}

void WindowEvents::gather(const WindowTraceOptions& options) {
  const Ticks until = end == 0 ? ~Ticks{0} : end;
  OpenCalls open(view, begin, until);  // before the runs: see OpenCalls
  if (phases.any_defined()) add_open_phases(until);
  const auto add_run = [&, this](const spool::Run& run) {
    give_up_if_wanted(options);
    continuations.add(run);
    if (run.header->tid == spool::kDeviceTid)
      device.add_run(run);
    else if (run.header->tid == spool::kSystemTid)
      samples.add_run(run, begin, until);
    else
      gather_run(run, until);
  };
  if (options.only)
    std::for_each(options.only->begin(), options.only->end(), add_run);
  else
    view.for_each_run(add_run);
  const WindowSpan span = span_until(until);
  if (!device.empty()) gather_api_calls(span);
  if (end == 0) end = latest_moment();
  steps.set_window_end(end, ended_by == spool::WindowEnd::kSchedule);
  add_unfinished(open);
  if (!python_calls.empty()) add_python_calls();
  if (phases.any_defined()) note_backward_threads();
  phases.finish(begin, end, ended_by == spool::WindowEnd::kExit || ended_by == spool::WindowEnd::kNone,
                clock.ticks_per_ns());
  if (!phases.occurrences().empty()) only_life_cycle = false;
  if (!device.empty()) gather_device_activity(span);
}

// A phase may begin before the window.
void WindowEvents::add_open_phases(Ticks until) {
  OpenCalls(view, 1, until).for_each(view.header().pid, [this](std::int64_t tid, const Event& call) {
    if ((call.flags & kPhase) != 0) phases.add_open(tid, call);
  });
}

void WindowEvents::note_backward_threads() {
  for (const auto& [tid, thread] : threads) {
    if (runs_only_backward(thread.events)) phases.note_backward(tid);
  }
}

void WindowEvents::add_python_calls() {
  python_calls.finish(view, {begin, end},
                      [this](std::int64_t tid) -> const std::vector<const Event*>& { return threads[tid].events; });
  python_calls.for_each([this](std::int64_t tid, const Event& call) { threads[tid].events.push_back(&call); });
  only_life_cycle = false;
}

bool WindowEvents::is_unwanted(const Event& e) const {
  if (e.hook == HookId::kPhaseRange) return true;  // shown on the track of its phase
  if ((e.flags & kPhase) != 0) return false;
  const bool is_range = e.hook == HookId::kTorchRange || e.hook == HookId::kNvtxRange;
  if (is_range && !steps.empty() && view.string(e.name).starts_with(schema::name::kStepStart)) return true;
  const spool::SpoolHeader& h = view.header();
  return (h.unwanted_layers >> static_cast<unsigned>(hook_layer(e.hook)) & 1) != 0 &&
         (is_of_search() || e.begin < h.searched_until.load(std::memory_order_relaxed));
}

void WindowEvents::gather_run(const spool::Run& run, Ticks until) {
  ThreadEvents& thread = threads[run.header->tid];
  if (thread.name.empty()) thread.name.assign(run.header->name, strnlen(run.header->name, sizeof run.header->name));
  for (const Event& e : std::span(run.events, run.count)) {
    if ((e.flags & kPhase) != 0 && e.begin < until && e.end > begin) phases.add(run.header->tid, e);
    if (e.hook == HookId::kPhaseCounter) {
      if (e.begin >= begin && e.end <= until) phases.add_counter(run.header->tid, e);
      continue;
    }
    if (e.begin < begin || e.begin >= until || e.hook == HookId::kContinuation || is_unwanted(e)) continue;
    if (e.hook == HookId::kNcclTask) {
      nccl_tasks.add(e);
      continue;
    }
    if (e.hook == HookId::kPythonMarks || e.hook == HookId::kPythonStack) {
      python_calls.add(run.header->tid, e);
      continue;
    }
    note_kind(e.hook);
    // A copy: the thread may still extend its last kMpiPolls.
    thread.events.push_back(e.hook == HookId::kMpiPolls ? &copies_.emplace_back(load_words(e)) : &e);
  }
}

// Possible times reach from a second before the window (clock errors) to a minute (late activity) after the later of
// its end and the newest clock anchor.
WindowSpan WindowEvents::span_until(Ticks until) const {
  const double second = clock.ticks_per_ns() * kSecondNs;
  const auto early = static_cast<Ticks>(second), late = static_cast<Ticks>(60 * second);
  Ticks latest = end;
  for (const Anchor& a : view.anchors()) latest = std::max(latest, a.ticks);
  return {begin, until, begin > early ? begin - early : 1, latest + std::min(late, ~Ticks{0} - latest)};
}

void WindowEvents::gather_api_calls(const WindowSpan& span) {
  device.gather_calls(span);
  std::map<std::int64_t, std::size_t> calls;
  device.for_each_call([&](const Event& call) { ++calls[thread_key(call.api)]; });
  for (const auto& [key, count] : calls) threads[key].events.reserve(threads[key].events.size() + count);
  device.for_each_call([&](const Event& call) {
    if (!is_unfinished(call)) threads[thread_key(call.api)].events.push_back(&call);
  });
}

// Also adds unfinished API calls, now that the window's end is known.
void WindowEvents::gather_device_activity(const WindowSpan& span) {
  device.for_each_call([this](const Event& call) {
    if (!is_unfinished(call)) return;
    Event& copy = copies_.emplace_back(call);
    copy.end = std::max(end, call.begin);
    copy.flags |= kUnfinished;
    threads[thread_key(call.api)].events.push_back(&copy);
  });
  device.gather_activity(span);
  const DeviceCounts& n = device.counts();
  summary.device = n.api_calls + n.kernels + n.copies + n.memsets + n.graphs;
  if (summary.device > 0) only_life_cycle = false;
}

void WindowEvents::add_unfinished(OpenCalls& open) {
  if (open.empty()) return;
  for (const auto& [tid, thread] : threads) open.drop_ended(tid, thread.events);
  open.for_each(view.header().pid, [this](std::int64_t tid, const Event& call) {
    if (is_unwanted(call)) return;
    note_kind(call.hook);
    Event& copy = copies_.emplace_back(call);
    copy.end = end;
    copy.flags |= kUnfinished;
    threads[tid].events.push_back(&copy);
  });
}

void WindowEvents::note_kind(HookId hook) {
  if (hook != HookId::kStep && !begins_or_ends_mpi(hook)) only_life_cycle = false;
}

Ticks WindowEvents::latest_moment() const {
  Ticks latest = begin;
  for (const auto& [tid, thread] : threads) {
    for (const Event* e : thread.events) latest = std::max({latest, e->begin, e->end});
  }
  for (const Event* e : samples.all()) latest = std::max(latest, e->begin);
  for (const spool::StepMark& m : steps.marks()) latest = std::max(latest, m.ticks);
  for (const Anchor& a : view.anchors()) latest = std::max(latest, a.ticks);
  for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
    for (const Event& e : view.thread(i).open) latest = std::max(latest, e.begin);
  }
  return latest + 1;
}

void WindowEvents::order_threads(const WindowTraceOptions& options) {
  for (auto& [tid, thread] : threads) {
    give_up_if_wanted(options);
    sort_slices(thread.events);
    drop_doubled_comms(view, thread.events);
  }
  std::erase_if(threads, [](const auto& entry) { return entry.second.events.empty(); });
}

void WindowEvents::count_calls() {
  for (const auto& [tid, thread] : threads) {
    for (const Event* e : thread.events) {
      if (e->hook == HookId::kTorchMemory) {
        ++summary.memory;
        continue;
      }
      if (e->hook == HookId::kPythonCall) {
        ++summary.of_layer[static_cast<std::size_t>(Layer::kPython)];
        continue;
      }
      const std::uint64_t calls = e->hook == HookId::kMpiPolls ? polls_of(e->polls) : 1;
      summary.calls += calls;
      // The threads did not record API calls; CUPTI did.
      if (e->hook != HookId::kCudaApi) summary.of_layer[static_cast<std::size_t>(hook_layer(e->hook))] += calls;
    }
  }
  summary.calls -= device.counts().api_calls;
}

void WindowEvents::limit_memory(std::uint64_t entries) {
  if (summary.memory <= entries) return;
  std::vector<Ticks> begins;
  begins.reserve(summary.memory);
  for (const auto& [tid, thread] : threads) {
    for (const Event* e : thread.events)
      if (e->hook == HookId::kTorchMemory) begins.push_back(e->begin);
  }
  const auto first_left_out = begins.begin() + static_cast<std::ptrdiff_t>(entries);
  std::nth_element(begins.begin(), first_left_out, begins.end());
  memory_until = *first_left_out;
  memory_left_out = static_cast<std::uint64_t>(
      std::count_if(begins.begin(), begins.end(), [this](Ticks t) { return t >= memory_until; }));
}

// Numbers External ids in this order: NCCL operations, annotations, PyTorch operators.
void WindowEvents::join_events() {
  for (const auto& [tid, thread] : threads) {
    for (const Event* e : thread.events) operations.add(*e);
  }
  operations.finish();
  nccl_tasks.finish(operations);
  if (!device.empty()) {
    for (const auto& [tid, thread] : threads) annotations.add_thread(thread.events, device.launches());
    annotations.finish(device, operations.count() + 1);
  }
  for (const auto& [tid, thread] : threads) {
    torch_links.add_thread(thread.events, device.launches());
    collectives.add_thread(tid, thread.events);
  }
  collectives.finish();
  torch_links.finish(first_torch_id());
}

void WindowEvents::count_dropped() {
  const bool is_open = ended_by == spool::WindowEnd::kNone;
  const std::uint64_t dropped_after = window.dropped_after.load(std::memory_order_acquire);
  const std::uint64_t dropped = is_open ? dropped_so_far() : dropped_after;
  summary.dropped = dropped > window.dropped_before ? dropped - window.dropped_before : 0;
}

std::uint64_t WindowEvents::dropped_so_far() const {
  const spool::SpoolHeader& h = view.header();
  std::uint64_t sum = h.dropped.load() + h.open_calls_lost.load() + spool::threadless_events(h);
  for (std::uint32_t i = 0; i < h.thread_count; ++i) sum += view.thread(i).dropped.load(std::memory_order_relaxed);
  return sum;
}

Ticks WindowEvents::last_end() const {
  Ticks latest = std::max(end, device.last_end());
  for (const auto& [tid, thread] : threads) {
    for (const Event* e : thread.events) latest = std::max(latest, e->end);
  }
  return latest;
}

}  // namespace profshim::kineto
