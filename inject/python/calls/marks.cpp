#include "marks.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "profshim/python/calls.h"
#include "profshim/recorder.h"
#include "profshim/recorder_control.h"

namespace profshim::python::calls {
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
