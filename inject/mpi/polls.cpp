#include "polls.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>

#include "rows.h"

namespace profshim::mpi {
namespace {

/// Longest pause between two polls of one event: 5 to 20 us of a TSC, more of an Arm counter.
constexpr Ticks kLongestPause = 20000;

struct Place {
  std::uint32_t comm = 0;
  std::int32_t peer = kNone32, tag = kNone32;
};

bool is_probe(const Row& row) { return row.polls() && row.has(Role::Source); }
bool is_probe(HookId hook) {
  const Row* const row = find_row(hook);
  return row != nullptr && is_probe(*row);
}

Place place_of(const Call& call) {
  if (!is_probe(call.row)) return {};
  Event event;
  describe(call, event);
  return {event.mpi.comm, event.mpi.peer, event.mpi.tag};
}

/// Atomic: the writer thread may be reading the event.
template <class T>
void set(T& to, T value) {
  std::atomic_ref(to).store(value, std::memory_order_relaxed);
}

bool continues(const Event& polling, const Call& call, Ticks began) {
  return polling.hook == HookId::kMpiPolls && ((polling.flags & kFortran) != 0) == call.fortran &&
         polling.polls.depth == call.thread.open_calls && polling.begin >= recorder::last_boundary() &&
         began - polling.end <= kLongestPause;
}

/// Stores the count last: every counted poll then lies before the event's end.
bool extend(Event& polling, const Call& call, Ticks began, Ticks now) {
  PollArgs& polls = polling.polls;
  const auto end = std::end(polls.functions);
  const auto of_hook = std::find_if(std::begin(polls.functions), end,
                                    [&](HookId f) { return f == call.row.hook || f == HookId::kNone; });
  if (of_hook == end) return false;
  if (is_probe(call.row)) {
    const bool first = std::none_of(std::begin(polls.functions), end, [](HookId f) { return is_probe(f); });
    const Place place = place_of(call);
    if (first || polls.comm != place.comm) set(polls.comm, first ? place.comm : 0);
    if (first || polls.peer != place.peer) set(polls.peer, first ? place.peer : kNone32);
    if (first || polls.tag != place.tag) set(polls.tag, first ? place.tag : kNone32);
  }
  set(polling.end, now);
  set(polls.in_calls, polls.in_calls + (now - began));
  set(*of_hook, call.row.hook);
  std::uint32_t& count = polls.calls[of_hook - std::begin(polls.functions)];
  set(count, count + 1);
  return true;
}

Event first_poll(const Call& call, Ticks began, Ticks now) {
  const Place place = place_of(call);
  Event polling;
  polling.begin = began;
  polling.end = now;
  polling.hook = HookId::kMpiPolls;
  polling.flags = call.fortran ? kFortran : 0;
  polling.polls = {.in_calls = now - began,
                   .calls = {1},
                   .functions = {call.row.hook},
                   .depth = static_cast<std::uint16_t>(call.thread.open_calls),
                   .comm = place.comm,
                   .peer = place.peer,
                   .tag = place.tag};
  return polling;
}

}  // namespace

Ticks begin_poll(Call& call) {
  if (needs_status(call)) call.want_status();
  return ticks();
}

void count_poll(const Call& call, Ticks began) {
  const Ticks now = ticks();
  Event* const last = recorder::last_committed(call.thread);
  if (last != nullptr && continues(*last, call, began) && extend(*last, call, began, now)) return;
  recorder::commit(call.thread, first_poll(call, began, now));
}

}  // namespace profshim::mpi
