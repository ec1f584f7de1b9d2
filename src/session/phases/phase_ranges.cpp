#include "profshim/phase_ranges.h"

#include <cerrno>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::phase_ranges {
namespace {

constexpr std::uint32_t phase_bits(std::uint64_t phases) { return static_cast<std::uint32_t>(phases); }

Event* open(std::uint64_t phases, StringId name, Ticks at, bool resumed) {
  if (!session::makes_phase(phases)) return nullptr;
  spool::Thread* const thread = recorder::this_thread();
  Event* const range = thread != nullptr ? recorder::open_call(*thread) : nullptr;
  if (range == nullptr) return nullptr;
  *range = Event{};
  range->hook = HookId::kPhaseRange;
  range->flags = kPhase;
  range->name = name;
  range->phase.phases = phase_bits(phases);
  range->phase.resumed = resumed ? 1 : 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // see recorder::begin()
  range->begin = at;
  return range;
}

/// A range of another thread ends with that thread: a fiber may have moved here.
void close(Event* range, Ticks at) {
  spool::Thread* const thread = recorder::known_thread();
  if (range == nullptr || thread == nullptr || recorder::mode() == 0) return;
  if (range < thread->open || range >= thread->open + spool::kMaxOpenCalls || range->begin == 0) return;
  recorder::end_at(*thread, *range, at);
}

}  // namespace

Event* begin(std::uint64_t phases, StringId name, Ticks at) {
  const int saved_errno = errno;
  const Ticks now = at != 0 ? at : ticks();
  session::phases_begin(phases, now);
  Event* const range = open(phases, name, now, false);
  errno = saved_errno;
  return range;
}

void end(Event* range, std::uint64_t phases, Ticks at) {
  const int saved_errno = errno;
  const Ticks now = at != 0 ? at : ticks();
  close(range, now);
  session::phases_end(phases, now);
  errno = saved_errno;
}

void begin_life(std::uint64_t phases, StringId name) {
  if (Event* const range = begin(phases, name)) range->phase.is_life = 1;
}

void suspend(Event* range) {
  const Ticks now = ticks();
  const std::uint64_t phases = range != nullptr ? range->phase.phases : 0;
  close(range, now);
  session::phases_pause(phases, now);
}

Event* resume(std::uint64_t phases, StringId name) {
  const Ticks now = ticks();
  Event* const range = open(phases, name, now, true);
  session::phases_resume(phases, now);
  return range;
}

Event* find_open(std::uint64_t phases, StringId name) {
  spool::Thread* const thread = recorder::known_thread();
  if (thread == nullptr) return nullptr;
  for (std::uint32_t i = thread->open_calls; i-- > 0;) {
    Event& range = thread->open[i];
    const bool is_ours = range.begin != 0 && range.hook == HookId::kPhaseRange;
    if (is_ours && range.name == name && range.phase.phases == phase_bits(phases)) return &range;
  }
  return nullptr;
}

}  // namespace profshim::phase_ranges
