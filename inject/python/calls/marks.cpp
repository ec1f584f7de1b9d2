#include "marks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>

#include "profshim/python/calls.h"
#include "profshim/recorder.h"
#include "profshim/recorder_control.h"

namespace profshim::python::calls {
namespace {

using profshim::python_calls::CallSite;
using profshim::python_calls::kLost;
using python_stack::Frame;

struct Key {
  const void *function, *caller, *module;
  std::uint32_t caller_offset, own_offset;
  bool operator==(const Key&) const = default;
};

std::uint64_t hash_of(const Key& key) {
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  std::uint64_t hash = number(key.function) * 0x9e3779b97f4a7c15;
  hash = std::rotl(hash, 23) ^ number(key.caller) * 0xd1342543de82ef95;
  hash = std::rotl(hash, 23) ^ number(key.module) * 0xaf251af3b0f025b5;
  hash ^= (std::uint64_t{key.own_offset} << 32 | key.caller_offset) * 0xbf58476d1ce4e5b9;
  return hash ^ hash >> 29;
}

/// Open addressing with linear probing: one load of memory for a known site. Guarded by the GIL.
class Sites {
 public:
  std::uint32_t* find(const Key& key) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash_of(key);; ++i) {
      Slot& slot = slots_[i & mask];
      if (slot.id == 0) return nullptr;
      if (slot.key == key) return &slot.id;
    }
  }
  void add(const Key& key, std::uint32_t id) {
    if (++used_ * 2 > slots_.size()) grow();
    place(slots_, {key, id});
  }

 private:
  struct Slot {
    Key key;
    std::uint32_t id;  // 0 = free
  };
  static void place(std::vector<Slot>& slots, const Slot& slot) {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = hash_of(slot.key);
    while (slots[i & mask].id != 0) ++i;
    slots[i & mask] = slot;
  }
  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.id != 0) place(larger, slot);
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(4096);  // a power of two
  std::size_t used_ = 0;
};

Sites& sites() {
  static auto* const all = new Sites;
  return *all;
}

int line_of(const Frame& frame) { return api().line_of(code_of(frame), static_cast<int>(frame.offset)); }

StringId place_of(const Frame& frame) {
  const CodeFunction* const function = of_code(code_of(frame));
  return function == nullptr ? 0 : recorder::intern(function->file + ":" + std::to_string(line_of(frame)));
}

std::uint32_t add_site(const Key& key, const CallSite& site) {
  StringId id = recorder::intern(site.text());
  if (id == 0 || id >= kLost) id = kLost;
  sites().add(key, id);
  return id;
}

[[gnu::noinline]] std::uint32_t new_site(const Key& key, const CodeFunction& function, const Frame& frame,
                                         const Frame* caller) {
  CallSite site{};
  site.function = function.number;
  site.caller = place_of(caller != nullptr ? *caller : frame);
  if (key.module != nullptr) {
    const auto* const type = reinterpret_cast<const char*>(type_of(static_cast<const Object*>(key.module)));
    site.name = recorder::intern(python_stack::name_of_type(type));
    site.module = reinterpret_cast<std::uint64_t>(key.module);
    site.module_type = reinterpret_cast<std::uint64_t>(type);
  } else {
    site.name = recorder::intern(function.file + "(" + std::to_string(line_of(frame)) + "): " + function.name);
  }
  return add_site(key, site);
}

}  // namespace

std::uint32_t site_of(const CodeFunction& function, const Frame& frame, const Frame* caller) {
  const CodeFunction* const calling = caller != nullptr ? of_code(code_of(*caller)) : nullptr;
  const char* const module = function.is_module_call ? python_stack::first_argument(frame) : nullptr;
  const Key key{&function, calling, module, calling != nullptr ? caller->offset : 0,
                module == nullptr ? frame.offset : 0};
  if (const std::uint32_t* const known = sites().find(key)) return *known;
  return new_site(key, function, frame, calling != nullptr ? caller : nullptr);
}

std::uint32_t site_of(const BuiltIn& function, const Frame& caller) {
  const CodeFunction* const calling = of_code(code_of(caller));
  const Key key{function.method, calling, nullptr, caller.offset, 0};
  if (const std::uint32_t* const known = sites().find(key)) return *known;
  CallSite site{};
  site.name = calls::name_of(function);
  site.caller = place_of(caller);
  site.function = calls::number_of(function);
  return add_site(key, site);
}

namespace {

using profshim::python_calls::Mark;
using profshim::python_calls::StackPart;
using recorder::kArmed;

constexpr std::size_t kMostFrames = 1024;

/// Guarded by the GIL.
constinit Ticks recorded_since = 0;

struct ThreadMarks {
  Event* last;           // the thread's last kPythonMarks
  std::uint32_t used;    // its words
  bool has_lost;         // marks since the last stack
  std::uint64_t stacks;  // 1 + the number of windows when the stack was committed last; 0 = never
};
thread_local constinit ThreadMarks own __attribute__((tls_model("initial-exec"))) = {};

void put(spool::Thread& thread, bool is_end, std::uint32_t id, Ticks now) {
  Event* const last = recorder::last_committed(thread);
  const bool continues = last != nullptr && last == own.last && last->hook == HookId::kPythonMarks &&
                         own.used < PythonMarks::kMost && last->begin >= recorder::last_boundary() &&
                         now - last->begin <= 0xffffffff;
  if (continues) {
    // Atomic: the writer thread may be reading the event.
    const Mark mark{static_cast<std::uint32_t>(now - last->begin), is_end, id};
    std::atomic_ref(last->end).store(now, std::memory_order_relaxed);
    std::atomic_ref(last->python_marks.words[own.used++]).store(mark.word(), std::memory_order_relaxed);
    return;
  }
  Event* const slot = recorder::next_slot(thread);
  if (slot == nullptr) {
    own.has_lost = true;
    return;
  }
  *slot = Event{};
  slot->begin = slot->end = now;
  slot->hook = HookId::kPythonMarks;
  slot->python_marks = {{Mark{0, is_end, id}.word()}};
  recorder::publish(thread);
  own.last = slot;
  own.used = 1;
}

/// Frames of left-out functions are not part of a stack.
std::size_t sites_of_stack(std::uint32_t* sites, Innermost innermost) {
  static auto* const frames = new python_stack::Frame[kMostFrames];  // guarded by the GIL
  const std::size_t count = python_stack::walk(frames, kMostFrames);
  std::size_t used = 0;
  for (std::size_t i = count; i-- > (innermost == Innermost::kBegins ? 1U : 0U);) {
    const CodeFunction* const function = of_code(code_of(frames[i]));
    if (function == nullptr || function->is_left_out) continue;
    sites[used++] = site_of(*function, frames[i], i + 1 < count ? &frames[i + 1] : nullptr);
  }
  return used;
}

Ticks begin_of_window(std::uint64_t windows) {
  const spool::SpoolHeader& h = recorder::header();
  const auto* const all = reinterpret_cast<const spool::Window*>(recorder::data() + h.windows_at);
  return windows == 0 ? 0 : all[(windows - 1) % spool::kMaxWindows].begin;
}

/// The frames on the stack went on when the window or the recording began.
[[gnu::noinline]] void put_stack(spool::Thread& thread, std::uint64_t windows, Innermost innermost) {
  static auto* const sites = new std::uint32_t[kMostFrames];  // guarded by the GIL
  const std::size_t count = sites_of_stack(sites, innermost);
  const Ticks at = own.has_lost ? ticks() : std::max(begin_of_window(windows), recorded_since);
  for (std::size_t i = 0; i == 0 || i < count; i += PythonMarks::kMost) {
    Event event;
    event.begin = event.end = at;
    event.hook = HookId::kPythonStack;
    event.stack_part = i > 0 ? StackPart::kMore : own.has_lost ? StackPart::kAfterLoss : StackPart::kFirst;
    for (std::size_t k = 0; k < PythonMarks::kMost && i + k < count; ++k) {
      event.python_marks.words[k] = Mark{0, false, sites[i + k]}.word();
    }
    Event* const slot = recorder::next_slot(thread);
    if (slot == nullptr) {
      own.has_lost = true;
      return;
    }
    *slot = event;
    recorder::publish(thread);
  }
  own.has_lost = false;
  own.stacks = windows + 1;
  own.last = nullptr;
}

}  // namespace

bool ready(Innermost innermost) {
  if (!recorder::mode_has(kArmed | recorder::kPythonCalls)) return false;
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) {
    recorder::lose_event(recorder::kPythonCalls);
    return false;
  }
  const std::uint64_t windows = recorder::windows_opened();
  if (__builtin_expect(own.stacks != windows + 1 || own.has_lost, 0)) {
    const int saved_errno = errno;
    put_stack(*thread, windows, innermost);
    errno = saved_errno;
  }
  return true;
}

void begin(std::uint32_t site) { put(*recorder::this_thread(), false, site, ticks()); }
void end(std::uint32_t function) { put(*recorder::this_thread(), true, function, ticks()); }

void forget_thread() { own = {}; }

void begin_recording() { recorded_since = ticks(); }

}  // namespace profshim::python::calls
