#include "phase_counters.h"

#include <algorithm>
#include <cerrno>

namespace profshim::session {
namespace {

constexpr std::uint64_t kRanges = 0xffffffff;  // the other bits are ticks

bool is_recording() { return (recorder::mode() & recorder::kArmed) != 0; }

void add_event(spool::Thread& thread, std::uint64_t phases, Ticks begin, Ticks end, const PerfReading& counted,
               std::size_t counter) {
  Event event;
  event.hook = HookId::kPhaseCounter;
  event.begin = begin;
  event.end = end;
  event.phase_counter = {.value = counted.values[counter],
                         .enabled_ns = counted.enabled_ns,
                         .ran_ns = counted.ran_ns,
                         .phases = static_cast<std::uint32_t>(phases),
                         .counter = static_cast<std::uint8_t>(counter),
                         .reserved = {}};
  recorder::commit(thread, event);
}

}  // namespace

PhaseCounters::ThreadCounters* PhaseCounters::find(std::int32_t tid, bool claim) {
  for (ThreadCounters& of : threads_) {
    if (of.tid.load(std::memory_order_relaxed) == tid) return &of;
  }
  if (!claim) return nullptr;
  for (ThreadCounters& of : threads_) {
    std::int32_t none = 0;
    if (of.tid.compare_exchange_strong(none, tid)) return &of;
  }
  recorder::missing("counters", "phases have no counters on some threads: more than " + std::to_string(kThreads) +
                                    " threads run phases at once");
  return nullptr;
}

bool PhaseCounters::uses_those_of_steps(const ThreadCounters& of) const {
  return steps_.is_step_thread(of.tid.load(std::memory_order_relaxed)) && steps_.counters().is_open();
}

void PhaseCounters::close(ThreadCounters& of) {
  of.perf.close();
  of.depth = 0;
}

void PhaseCounters::push(ThreadCounters& of, std::uint64_t phases, Ticks at) {
  const bool of_steps = uses_those_of_steps(of);
  if (of_steps && of.depth == 0) of.perf.close();
  if (!of_steps && !of.perf.is_open()) {
    for (const std::string& loss : of.perf.open(plan_.spec.counters.perf)) recorder::missing("counters", loss);
  }
  // The outermost ranges may have ended on other threads.
  if (of.depth == kNested) std::move(of.open.begin() + 1, of.open.end(), of.open.begin());
  of.depth = std::min(of.depth + 1, kNested);
  of.open[of.depth - 1] = {phases, at, of_steps, (of_steps ? steps_.counters() : of.perf).read()};
}

void PhaseCounters::pop(ThreadCounters& of, spool::Thread& thread, Ticks at) {
  const Range& range = of.open[--of.depth];
  if (!is_recording() || (range.of_steps && !uses_those_of_steps(of))) return;
  const PerfReading counted = (range.of_steps ? steps_.counters() : of.perf).read().since(range.reading);
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (counted.knows(n)) add_event(thread, range.phases, range.begin, at, counted, n);
  }
}

void PhaseCounters::begin(std::uint64_t phases, Ticks at) {
  spool::Thread* const thread = recorder::this_thread();
  if ((phases & kRanges) == 0 || thread == nullptr) return;
  const int saved_errno = errno;
  ThreadCounters* const of = find(thread->tid.load(std::memory_order_relaxed), is_recording());
  if (of != nullptr && !of->is_busy.exchange(true)) {
    if (is_recording()) {
      push(*of, phases & kRanges, at);
    } else {
      close(*of);
    }
    of->is_busy.store(false);
  }
  errno = saved_errno;
}

void PhaseCounters::end(std::uint64_t phases, Ticks at) {
  spool::Thread* const thread = recorder::known_thread();
  if ((phases & kRanges) == 0 || thread == nullptr) return;
  const int saved_errno = errno;
  ThreadCounters* const of = find(thread->tid.load(std::memory_order_relaxed), false);
  if (of != nullptr && !of->is_busy.exchange(true)) {
    const auto is_of = [&](const Range& range) { return range.phases == (phases & kRanges); };
    const auto first = of->open.rend() - static_cast<std::ptrdiff_t>(of->depth);
    if (const auto range = std::find_if(first, of->open.rend(), is_of); range != of->open.rend()) {
      of->depth = static_cast<std::size_t>(of->open.rend() - range);  // ranges inside it ended on other threads
      pop(*of, *thread, at);
    }
    of->is_busy.store(false);
  }
  errno = saved_errno;
}

void PhaseCounters::thread_ends(spool::Thread& thread, Ticks at) {
  ThreadCounters* const of = find(thread.tid.load(std::memory_order_relaxed), false);
  if (of == nullptr) return;
  while (of->depth > 0) pop(*of, thread, at);
  close(*of);
  of->tid.store(0);
}

}  // namespace profshim::session
