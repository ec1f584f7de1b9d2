#include "operators.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>

#include "abi.h"
#include "activation.h"
#include "groups.h"
#include "inject/core/loader/resolve.h"
#include "inject/parent.h"
#include "inject/start_gate.h"
#include "inputs.h"
#include "layout.h"
#include "pending_ranges.h"
#include "profshim/call_stack.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

using recorder::kArmed;
using recorder::kOperatorSteps;
using recorder::kTorch;
using recorder::kTorchInputs;
using recorder::kTorchSteps;

// Written before the first observer is added.
constinit AddCallback add_callback = nullptr;
constinit RemoveCallback remove_callback = nullptr;
constinit Name name_of = nullptr;
constinit std::atomic<bool> is_attached{false};

constexpr HookId hook_of(Scope scope) {
  switch (scope) {
    case Scope::kFunction:
      return HookId::kTorchOperator;
    case Scope::kBackwardFunction:
      return HookId::kTorchBackward;
    case Scope::kTorchScript:
      return HookId::kTorchScript;
    default:
      return HookId::kTorchRange;
  }
}

constexpr bool is_observed(HookId hook) { return hook >= HookId::kTorchOperator && hook <= HookId::kTorchRange; }

bool recording() { return recorder::mode_has(kArmed | kTorch); }

std::int64_t sequence_of(const void* record_function, const Layout& known) {
  std::int64_t sequence;
  std::memcpy(&sequence, static_cast<const char*>(record_function) + known.sequence, sizeof sequence);
  return sequence >= 0 ? sequence : kNoSequence;
}

bool is_collective(const char* name) { return std::strncmp(name, "c10d::", 6) == 0; }

void describe(const void* record_function, const char* name, Event& event) {
  event.torch.sequence = kNoSequence;
  const Layout* const known = known_layout();
  const bool is_range = event.hook == HookId::kTorchRange;
  if (known != nullptr) {
    if (!is_range) event.torch.sequence = sequence_of(record_function, *known);
    // The only ranges with inputs are those of PyTorch's collectives.
    if (is_range || recorder::mode_has(kTorchInputs)) describe_inputs(record_function, *known, event.torch);
  }
  if (!is_range && is_collective(name)) {
    const bool has_inputs = known != nullptr && recorder::mode_has(kTorchInputs);
    if (has_inputs) event.element_type = first_element_type(record_function, *known);
    event.torch.group = group_id(has_inputs ? find_process_group(record_function, *known, is_process_group) : nullptr);
  }
}

void open(const void* record_function, HookId hook, const char* name, std::uint8_t flags = 0) {
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) return recorder::lose_event(recorder::kTorch);
  Event* const event = recorder::open_call(*thread);
  if (event == nullptr) return;
  *event = Event{};
  event->hook = hook;
  event->flags = flags;
  event->name = *name != 0 ? recorder::intern_literal(name) : 0;
  event->torch.record_function = reinterpret_cast<std::uint64_t>(record_function);
  describe(record_function, name, *event);
  if (hook == HookId::kTorchRange) forget_pending(*thread, record_function);
  if (recorder::mode_has(recorder::kStacks)) event->torch.stack = call_stack::capture_operator(*thread, name);
  recorder::begin(*event);
}

/// Null if the call began unobserved or on another thread.
Event* find_open(spool::Thread& thread, const void* record_function) {
  for (std::uint32_t i = thread.open_calls; i-- > 0;) {
    Event& event = thread.open[i];
    if (event.begin != 0 && event.torch.record_function == reinterpret_cast<std::uint64_t>(record_function) &&
        is_observed(event.hook)) {
      return &event;
    }
  }
  return nullptr;
}

/// Moves the ranges that are open inside `outer` to the pending ranges: they end on another thread, or never.
void close_inner(spool::Thread& thread, const Event& outer) {
  for (std::uint32_t i = thread.open_calls; i-- > 0 && &thread.open[i] != &outer;) {
    Event& event = thread.open[i];
    if (event.begin == 0 || !is_observed(event.hook)) continue;
    const auto* const key = reinterpret_cast<const void*>(event.torch.record_function);
    event.flags |= kStartEnd;
    event.torch.record_function = static_cast<std::uint64_t>(thread.tid.load(std::memory_order_relaxed));
    make_pending(thread, event, key);
    recorder::discard(thread, event);
  }
}

bool close(const void* record_function, Ticks now) {
  spool::Thread* const thread = recorder::known_thread();
  if (thread == nullptr || thread->open_calls == 0) return false;
  Event* const event = find_open(*thread, record_function);
  if (event == nullptr) return false;
  if (event != &thread->open[thread->open_calls - 1]) close_inner(*thread, *event);
  event->torch.record_function = 0;
  recorder::end_at(*thread, *event, now);
  return true;
}

// Ends a range that began on another thread, even after its window: else the next window would show it.
void close_pending(const void* record_function) {
  if (!recording() && (recorder::mode() == 0 || !has_pending())) return;
  if (spool::Thread* const thread = recorder::this_thread()) end_pending(*thread, record_function, ticks());
}

bool makes_steps() { return recorder::mode_has(kTorchSteps); }

/// Returns the flags of the range's event.
std::uint8_t note_marker_begin(const char* name) {
  if (!makes_steps() || !session::may_be_marker(*name)) return 0;
  const Ticks now = ticks();
  session::torch_range_begins(name, now);
  const std::uint64_t phases = session::phases_of(name, PhaseSource::kTorch);
  if (phases != 0) session::phases_begin(phases, now);
  return session::makes_phase(phases) ? kPhase : 0;
}

/// `now`: end of the recorded range, which take_over() must not count a second time.
void note_marker_end(const char* name, Ticks now) {
  if (!makes_steps() || !session::may_be_marker(*name)) return;
  if (const std::uint64_t phases = session::phases_of(name, PhaseSource::kTorch); phases != 0)
    session::phases_end(phases, now);
  session::torch_range_ended(name, now);
}

void note_operator(const char* name) {
  if (name != nullptr) session::operator_begins(name, ticks());
}

/// What PyTorch tells apart from ranges. Each observed call takes PyTorch's slow path, 0.4 us, so that steps made of
/// operators observe nothing else.
enum class Observed { kNothing, kOperators, kAll };
void observe(Observed wanted);

constinit std::atomic<bool> is_done{false}, is_done_with_operators{false};

/// Removes the operators' observers once operators cannot show whether this process is a rank. Keeps the observers in a
/// forked child, where PyTorch's lock may stay locked.
[[gnu::noinline]] void activate_process(const char* range, const char* name) {
  if (!inject::know_process()) return;
  inject::await_recording();
  if (!recorder::is_off() || is_done.load(std::memory_order_relaxed)) return;
  if (range == nullptr && is_done_with_operators.load(std::memory_order_relaxed)) return;
  const Activation activation = try_to_activate(range);
  if (activation != Activation::kDone && name != nullptr) session::note_earlier_marker(name);
  if (activation == Activation::kRetry) return;
  if (activation == Activation::kDone) is_done = true;
  const bool are_needed = recording() || recorder::mode_has(kOperatorSteps) || inject::is_forked();
  if (!is_done_with_operators.exchange(true) && !are_needed) observe(Observed::kNothing);
}

template <Scope scope>
std::unique_ptr<ObserverContext> on_begin(const void* record_function) {
  const int saved_errno = errno;
  if constexpr (scope == Scope::kUser) {
    const char* const name = name_of(record_function);
    if (recorder::is_off()) activate_process(name, name);
    if (name != nullptr) {
      const std::uint8_t flags = note_marker_begin(name);
      if (recording() || flags != 0) open(record_function, hook_of(scope), name, flags);
    }
  } else {
    if (recorder::is_off()) activate_process(nullptr, name_of(record_function));
    if (scope == Scope::kFunction && recorder::mode_has(kOperatorSteps)) note_operator(name_of(record_function));
    if (recording()) {
      if (const char* const name = name_of(record_function)) open(record_function, hook_of(scope), name);
    }
  }
  errno = saved_errno;
  return nullptr;
}

template <Scope scope>
void on_end(const void* record_function, ObserverContext*) {
  const int saved_errno = errno;
  if (recorder::mode() != 0) {
    const Ticks now = ticks();
    const bool was_here = close(record_function, now);
    if constexpr (scope == Scope::kUser) {
      if (!was_here) close_pending(record_function);
      if (const char* const name = name_of(record_function)) note_marker_end(name, now);
    }
  }
  errno = saved_errno;
}

template <Scope scope>
std::uint64_t add_observer(bool with_inputs) {
  Callback callback;
  callback.start = on_begin<scope>;
  callback.end = on_end<scope>;
  callback.scopes[static_cast<int>(scope)] = true;
  callback.needs_inputs = with_inputs && session::may_show_inputs() && known_layout() != nullptr;
  return add_callback(callback);
}

constinit std::mutex observers_mutex;
constinit bool can_observe = true;  // constant but in leave_parent()
constinit Observed observed = Observed::kNothing;
constinit std::uint64_t observers[4] = {};  // the first: operators

// PyTorch keeps a range's inputs if any observer asks for them. The permanent observer may be older than the spec, so
// this observer asks while recording.
std::unique_ptr<ObserverContext> ignore_begin(const void*) { return nullptr; }
void ignore_end(const void*, ObserverContext*) {}
std::uint64_t add_input_requester() {
  Callback callback;
  callback.start = ignore_begin;
  callback.end = ignore_end;
  callback.scopes[static_cast<int>(Scope::kUser)] = true;
  callback.needs_inputs = known_layout() != nullptr;
  return add_callback(callback);
}

void observe(Observed wanted) {
  if (!is_attached.load(std::memory_order_acquire) || !can_observe) return;
  const std::lock_guard lock(observers_mutex);
  if (wanted == observed) return;
  if (observed != Observed::kNothing) remove_callback(observers[0]);
  for (std::size_t i = 1; observed == Observed::kAll && i < std::size(observers); ++i) remove_callback(observers[i]);
  observed = wanted;
  if (wanted != Observed::kNothing) observers[0] = add_observer<Scope::kFunction>(wanted == Observed::kAll);
  if (wanted != Observed::kAll) return;
  observers[1] = add_observer<Scope::kBackwardFunction>(true);
  observers[2] = add_observer<Scope::kTorchScript>(true);
  observers[3] = add_input_requester();
}

constinit std::atomic<bool> is_layout_found{false};

void find_layout_once() {
  if (!is_attached.load(std::memory_order_acquire) || recorder::mode() == 0) return;
  if (!is_layout_found.exchange(true)) find_layout(reinterpret_cast<const void*>(add_callback));
}

void on_arming(bool armed) {
  define_groups();
  if (armed && recorder::mode_has(kTorch)) return observe(Observed::kAll);
  observe(recorder::mode_has(kOperatorSteps) ? Observed::kOperators : Observed::kNothing);
}

}  // namespace

void attach_if_loaded() {
  static constinit std::mutex mutex;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock() || is_attached.load(std::memory_order_relaxed)) return;
  add_callback = reinterpret_cast<AddCallback>(inject::resolve_in(kAddCallback, Layer::kTorch));
  if (add_callback == nullptr) return;
  remove_callback = reinterpret_cast<RemoveCallback>(inject::resolve_in(kRemoveCallback, Layer::kTorch));
  name_of = reinterpret_cast<Name>(inject::resolve_in(kName, Layer::kTorch));
  if (remove_callback == nullptr || name_of == nullptr) return;
  is_attached.store(true, std::memory_order_release);
  find_layout_once();
  add_observer<Scope::kUser>(true);
  observe(recorder::mode() == 0 || recording() ? Observed::kAll : Observed::kNothing);
}

void leave_parent() {
  is_done = is_done_with_operators = is_layout_found = false;
  leave_parents_groups();
  leave_parents_pending_ranges();
  // If a thread of the parent was adding or removing observers, PyTorch's own lock is not free either.
  if (observers_mutex.try_lock()) {
    observers_mutex.unlock();
  } else {
    can_observe = false;
  }
  const bool may_be_rank = leave_parents_activation();
  if (may_be_rank) observe(Observed::kAll);
}

bool is_imported() { return is_attached.load(std::memory_order_relaxed); }

Callback operator_observer() {
  Callback callback;
  callback.start = on_begin<Scope::kFunction>;
  callback.end = on_end<Scope::kFunction>;
  return callback;
}

void on_activate() {
  session::call_when_arming(on_arming);
  session::measure_cost_with(Layer::kTorch, operator_cost);
  if (!can_observe) {
    const char* const why =
        "operators of PyTorch may be missing: this process was forked while its parent observed them";
    log::line(LogLevel::kWarn, "%s", why);
    recorder::problem("torch", why);
  }
  attach_if_loaded();
  find_layout_once();
  start_memory();
  // Observers added before the activation ask for no inputs. Other threads' operators are not seen between the two.
  if (session::may_show_inputs()) observe(Observed::kNothing);
  on_arming(recorder::mode_has(kArmed));
}

}  // namespace profshim::torch
