#include "ranges.h"

#include <algorithm>
#include <optional>

#include "inject/nvtx/payload/render.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nvtx {
namespace {

using recorder::kArmed;
using recorder::kNvtx;
using recorder::kNvtxSteps;

/// Flag in NvtxArgs::reserved[0] of an open range: a step marker. reserved[1] is the nesting level, reserved2 is
/// Marker::phases. pop() zeroes all three.
enum : std::uint8_t { kIsMarker = 1 };

/// Markers are recorded even if the spec wants no other ranges; those of phases, even outside windows.
struct Marker {
  bool is_step = false, is_epoch = false;
  std::optional<std::int64_t> number;
  std::uint64_t phases = 0;  // see session::phases_of()

  bool is_phase() const { return session::makes_phase(phases); }
  bool is_recorded(std::uint32_t mode) const {
    const bool is_any = is_step || is_epoch || phases != 0;
    return is_phase() || ((mode & kArmed) != 0 && ((mode & kNvtx) != 0 || is_any));
  }
};

std::string_view text_of(const Annotation& a) {
  if (a.string != nullptr) return {a.string->text, a.string->length};
  return a.c_text != nullptr ? std::string_view(a.c_text) : a.text;
}

StringId name_of(const Annotation& a) {
  if (a.string != nullptr) return intern_string(*a.string);
  if (a.c_text != nullptr && *a.c_text != 0) return recorder::intern_literal(a.c_text);
  return recorder::intern(a.text.empty() ? kUnnamed : a.text);
}

/// Also reports epoch boundaries. Compares a registered string that is no marker only once.
Marker find_marker(const Annotation& a) {
  Marker marker;
  RegisteredString* const string = a.string;
  const char* const begin = string != nullptr ? string->text : a.c_text != nullptr ? a.c_text : a.text.data();
  if (begin == nullptr || !session::may_be_marker(*begin)) return marker;
  const std::string_view text = text_of(a);
  if (string == nullptr || !string->no_epoch.load(std::memory_order_relaxed)) {
    marker.is_epoch = session::is_epoch_marker(text);
    if (string != nullptr && !marker.is_epoch) string->no_epoch.store(true, std::memory_order_relaxed);
    if (marker.is_epoch) session::epoch_boundary(text);
  }
  const std::uint32_t generation = session::marker_generation() + 1;
  if (string == nullptr || string->no_step.load(std::memory_order_relaxed) != generation) {
    marker.is_step = session::is_step_marker(text, marker.number);
    if (string != nullptr && !marker.is_step) string->no_step.store(generation, std::memory_order_relaxed);
  }
  if (string == nullptr || !string->no_phase.load(std::memory_order_relaxed)) {
    marker.phases = session::phases_of(text, PhaseSource::kNvtx);
    if (string != nullptr && marker.phases == 0) string->no_phase.store(true, std::memory_order_relaxed);
  }
  return marker;
}

/// May open or close windows, and so change the mode.
void marker_begins(const Marker& marker, Ticks now, StringId name) {
  if (marker.is_step && !session::steps_end_with_marker()) session::step_boundary(now, marker.number, name);
  if (marker.phases != 0) session::phases_begin(marker.phases, now);
}

/// Call after committing the marker's range: its end may close a window.
void marker_ended(bool is_step, std::uint64_t phases, Ticks now, StringId name) {
  if (phases != 0) session::phases_end(phases, now);
  if (!is_step) return;
  if (!session::steps_end_with_marker()) return session::step_marker_ended(now);
  std::optional<std::int64_t> number;
  session::is_step_marker(recorder::text_of(name), number);
  session::step_boundary(now, number, name);
}

[[gnu::noinline]] void add_extended(Event& event, Domain& domain, const nvtxPayloadData_t* payloads,
                                    std::size_t count) {
  char buffer[kMaxPayloadText];
  EventMessage message;
  const std::string_view text = render_payload(domain, payloads, count, buffer, message);
  event.nvtx.extended = recorder::intern(text);
  if (!message.text.empty() && event.name == recorder::intern(kUnnamed)) event.name = recorder::intern(message.text);
}

void describe(Event& event, HookId hook, Domain& domain, const Annotation& a, StringId name) {
  event = Event{};
  event.hook = hook;
  event.name = name;
  event.nvtx.domain = define_domain(domain);
  event.nvtx.payload = a.payload;
  event.nvtx.payload_type = a.payload_type;
  event.nvtx.category = a.category;
  event.nvtx.color = a.color;
  if (a.category != 0) define_category(domain, a.category);
  if (a.extended != nullptr) add_extended(event, domain, a.extended, a.extended_count);
}

void begin_at(Event& event, Ticks now) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin != 0 tells readers: other fields are valid
  event.begin = now;
}

bool is_range(const Event& event, std::uint32_t domain) {
  // kNone: a placeholder. Open calls of other layers have a hook.
  return (event.hook == HookId::kNvtxRange || event.hook == HookId::kNone) && event.begin != 0 &&
         event.nvtx.domain == domain;
}

std::uint8_t next_level(const spool::Thread& t, std::uint32_t domain) {
  for (std::uint32_t i = t.open_calls; i-- > 0;) {
    if (is_range(t.open[i], domain)) return static_cast<std::uint8_t>(t.open[i].nvtx.reserved[1] + 1);
  }
  return 0;
}

/// Opens a placeholder (ranges.h) if this range is a marker, or its pop could end another range.
int push_placeholder(spool::Thread& t, Domain& domain, const Marker& marker, StringId name) {
  const bool is_marker = marker.is_step || marker.phases != 0;
  if (t.open_calls == 0 && !is_marker && t.lost_pushes == 0) return NVTX_NO_PUSH_POP_TRACKING;
  const std::uint8_t level = next_level(t, domain.id);
  Event* const open = recorder::open_call(t);
  if (open == nullptr) {
    ++t.lost_pushes;
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  *open = Event{};
  open->name = name;
  open->nvtx.domain = domain.id;
  open->nvtx.reserved[0] = marker.is_step ? kIsMarker : 0;
  open->nvtx.reserved[1] = level;
  open->nvtx.reserved2 = marker.phases;
  begin_at(*open, 1);
  return level;
}

/// Slot of a start/end range. `id` 0 = free. The thread whose compare-and-swap on `id` succeeds owns the slot.
struct StartedRange {
  std::atomic<std::uint64_t> id;
  Event* event;     // in the spool; null = not recorded
  StringId marker;  // 0 = no step marker
  std::uint64_t phases;
};
/// Bit of `id` while start() or end() uses the slot. The job's ids never have this bit.
constexpr std::uint64_t kInUse = 1ULL << 63;
constexpr std::uint32_t kRangeSlots = 1u << 16;
constinit StartedRange ranges[kRangeSlots] = {};
constinit std::atomic<std::uint64_t> next_range{1};

/// `id` becomes running number << 16 | slot, so that old ids match no slot.
StartedRange* take_range(std::uint64_t& id) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::uint64_t number = next_range.fetch_add(1, std::memory_order_relaxed);
    StartedRange& range = ranges[number % kRangeSlots];
    id = number << 16 | number % kRangeSlots;
    std::uint64_t expected = 0;
    if (range.id.compare_exchange_strong(expected, id | kInUse, std::memory_order_acquire)) return &range;
  }
  return nullptr;
}

}  // namespace

void leave_parent() {
  const std::uint64_t used = std::min<std::uint64_t>(next_range.load(), kRangeSlots);
  for (std::uint64_t i = 0; i < used; ++i) ranges[i].id.store(0, std::memory_order_relaxed);
}

int push(Domain& domain, const Annotation& a) {
  std::uint32_t mode = recorder::mode();
  if ((mode & (kNvtx | kNvtxSteps)) == 0) return NVTX_NO_PUSH_POP_TRACKING;
  spool::Thread* const t = recorder::this_thread();
  if (t == nullptr) {
    recorder::lose_event(kNvtx);
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  Ticks now = 0;
  StringId name = 0;
  Marker marker;
  if ((mode & kNvtxSteps) != 0) {
    marker = find_marker(a);
    if (t->open_calls >= spool::kMaxOpenCalls) marker.phases = 0;  // the range is lost, and its pop ends no phase
    if (marker.is_step || marker.phases != 0) {
      name = name_of(a);
      now = ticks();
      marker_begins(marker, now, name);
      mode = recorder::mode();
    }
  }
  if (!marker.is_recorded(mode)) return push_placeholder(*t, domain, marker, name);
  const std::uint8_t level = next_level(*t, domain.id);
  if (name == 0) name = name_of(a);
  Event* const open = recorder::open_call(*t);
  if (open == nullptr) {
    ++t->lost_pushes;
    return level;
  }
  describe(*open, HookId::kNvtxRange, domain, a, name);
  if (marker.is_phase()) open->flags |= kPhase;
  open->nvtx.reserved[0] = marker.is_step ? kIsMarker : 0;
  open->nvtx.reserved[1] = level;
  open->nvtx.reserved2 = marker.phases;
  begin_at(*open, now != 0 ? now : ticks());
  return level;
}

int pop(Domain& domain, const nvtxPayloadData_t* extended, std::size_t count) {
  if ((recorder::mode() & (kNvtx | kNvtxSteps)) == 0) return NVTX_NO_PUSH_POP_TRACKING;
  spool::Thread* const t = recorder::this_thread();
  if (t == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  if (t->lost_pushes > 0) {
    --t->lost_pushes;
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  if (t->open_calls == 0) return NVTX_NO_PUSH_POP_TRACKING;
  const Ticks now = ticks();
  for (std::uint32_t i = t->open_calls; i-- > 0;) {
    Event& open = t->open[i];
    if (!is_range(open, domain.id)) continue;
    const bool is_marker = (open.nvtx.reserved[0] & kIsMarker) != 0;
    const std::uint64_t phases = open.nvtx.reserved2;
    const StringId name = open.name;
    const int level = open.nvtx.reserved[1];
    if (open.hook == HookId::kNone) {
      recorder::discard(*t, open);
    } else {
      if (extended != nullptr && open.nvtx.extended == 0) add_extended(open, domain, extended, count);
      if (Event* const slot = recorder::next_slot(*t)) {
        recorder::copy_ended(*slot, open, now);
        slot->nvtx.reserved[0] = slot->nvtx.reserved[1] = 0;
        slot->nvtx.reserved2 = 0;
        recorder::publish(*t);
      }
      recorder::discard(*t, open);
    }
    if (is_marker || phases != 0) marker_ended(is_marker, phases, now, name);
    return level;
  }
  return NVTX_NO_PUSH_POP_TRACKING;
}

void mark(Domain& domain, const Annotation& a) {
  std::uint32_t mode = recorder::mode();
  if ((mode & (kNvtx | kNvtxSteps)) == 0) return;
  spool::Thread* const t = recorder::this_thread();
  if (t == nullptr) return recorder::lose_event(kNvtx);
  Ticks now = 0;
  Marker marker;
  if ((mode & kNvtxSteps) != 0) {
    marker = find_marker(a);
    if (marker.is_step) {
      now = ticks();
      session::step_boundary(now, marker.number, name_of(a));
      mode = recorder::mode();
    }
  }
  marker.phases = 0;  // a phase is a range
  if (!marker.is_recorded(mode)) return;
  if (now == 0) now = ticks();
  Event event;
  describe(event, HookId::kNvtxMark, domain, a, name_of(a));
  event.begin = event.end = now;
  recorder::commit(*t, event);
}

nvtxRangeId_t start(Domain& domain, const Annotation& a) {
  std::uint32_t mode = recorder::mode();
  if ((mode & (kNvtx | kNvtxSteps)) == 0) return 0;
  spool::Thread* const t = recorder::this_thread();
  if (t == nullptr) {
    recorder::lose_event(kNvtx);
    return 0;
  }
  Ticks now = 0;
  StringId marker_name = 0;
  Marker marker;
  if ((mode & kNvtxSteps) != 0) {
    marker = find_marker(a);
    if (marker.is_step || marker.phases != 0) {
      marker_name = name_of(a);
      now = ticks();
      marker_begins(marker, now, marker_name);
      mode = recorder::mode();
    }
  }
  const bool recorded = marker.is_recorded(mode);
  if (!recorded && marker_name == 0) return 0;
  std::uint64_t id = 0;
  StartedRange* const range = take_range(id);
  if (range == nullptr) {
    if (marker.phases != 0) session::phases_end(marker.phases, now);
    recorder::detail::count_lost_open_call();
    return 0;
  }
  range->event = recorded ? recorder::take_pending() : nullptr;
  range->marker = marker.is_step ? marker_name : 0;
  range->phases = marker.phases;
  if (range->event != nullptr) {
    describe(*range->event, HookId::kNvtxRange, domain, a, name_of(a));
    range->event->flags = marker.is_phase() ? kStartEnd | kPhase : kStartEnd;
    range->event->nvtx.start_tid = t->tid.load(std::memory_order_relaxed);
    begin_at(*range->event, now != 0 ? now : ticks());
  }
  range->id.store(id, std::memory_order_release);
  return id;
}

void end(Domain& domain, nvtxRangeId_t id, const nvtxPayloadData_t* extended, std::size_t count) {
  if ((recorder::mode() & (kNvtx | kNvtxSteps)) == 0 || id == 0) return;
  StartedRange& range = ranges[id % kRangeSlots];
  std::uint64_t expected = id;
  if (!range.id.compare_exchange_strong(expected, id | kInUse, std::memory_order_acquire)) return;
  const Ticks now = ticks();
  Event* const slot = range.event;
  const StringId marker = range.marker;
  const std::uint64_t phases = range.phases;
  range.id.store(0, std::memory_order_release);
  spool::Thread* const t = recorder::this_thread();
  if (slot != nullptr) {
    Event event = *slot;
    event.end = now;
    if (extended != nullptr && event.nvtx.extended == 0) add_extended(event, domain, extended, count);
    if (t != nullptr) recorder::commit(*t, event);
    recorder::release_pending(slot);
  }
  if ((marker != 0 || phases != 0) && t != nullptr) marker_ended(marker != 0, phases, now, marker);
}

}  // namespace profshim::nvtx
