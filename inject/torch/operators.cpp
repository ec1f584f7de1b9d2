#include "operators.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>

#include "abi.h"
#include "activation.h"
#include "async.h"
#include "groups.h"
#include "inject/core/resolve.h"
#include "inject/torch/calls/memory.h"
#include "inputs.h"
#include "layout.h"
#include "profshim/call_stack.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

using recorder::kArmed;
using recorder::kTorch;
using recorder::kTorchInputs;
using recorder::kTorchSteps;

// Written once, before the first observer is added.
constinit AddCallback add_callback = nullptr;
constinit RemoveCallback remove_callback = nullptr;
constinit Name name_of = nullptr;
constinit std::atomic<bool> torch_is_here{false};
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
    // Of a range only those that PyTorch makes itself have some: what a collective works on.
    if (is_range || recorder::mode_has(kTorchInputs)) describe_inputs(record_function, *known, event.torch);
  }
  if (!is_range && is_collective(name)) {
    const bool has_inputs = known != nullptr && recorder::mode_has(kTorchInputs);
    if (has_inputs) event.element_type = element_type(record_function, *known);
    event.torch.group = group_id(has_inputs ? process_group(record_function, *known, is_process_group) : nullptr);
  }
}

void open(const void* record_function, HookId hook, const char* name) {
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) return recorder::lose_event(recorder::kTorch);
  Event* const event = recorder::open_call(*thread);
  if (event == nullptr) return;
  *event = Event{};
  event->hook = hook;
  event->name = *name != 0 ? recorder::intern_literal(name) : 0;
  event->torch.record_function = reinterpret_cast<std::uint64_t>(record_function);
  describe(record_function, name, *event);
  if (hook == HookId::kTorchRange) forget(record_function);
  if (recorder::mode_has(recorder::kStacks)) event->torch.stack = call_stack::capture_operator(*thread, name);
  recorder::begin(*event);
}

/// The innermost one is nearly always the one that ends. One that began before we observed it, or on another thread, is
/// not found.
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

/// What began inside of the one that ends and has not ended itself ends on another thread, or not at all.
void close_inner(spool::Thread& thread, const Event& outer) {
  for (std::uint32_t i = thread.open_calls; i-- > 0 && &thread.open[i] != &outer;) {
    Event& event = thread.open[i];
    if (event.begin == 0 || !is_observed(event.hook)) continue;
    const auto* const key = reinterpret_cast<const void*>(event.torch.record_function);
    event.flags |= kStartEnd;
    event.torch.record_function = static_cast<std::uint64_t>(thread.tid.load(std::memory_order_relaxed));
    hand_over(thread, event, key);
    recorder::discard(thread, event);
  }
}

bool close(const void* record_function) {
  spool::Thread* const thread = recorder::known_thread();
  if (thread == nullptr || thread->open_calls == 0) return false;
  Event* const event = find_open(*thread, record_function);
  if (event == nullptr) return false;
  if (event != &thread->open[thread->open_calls - 1]) close_inner(*thread, *event);
  event->torch.record_function = 0;
  recorder::end(*thread, *event);
  return true;
}

void close_elsewhere(const void* record_function) {
  if (!recording()) return;
  if (spool::Thread* const thread = recorder::this_thread()) ended_elsewhere(*thread, record_function, ticks());
}

// ---- steps
// -----------------------------------------------------------------------------------------------------------

bool makes_steps() { return recorder::mode_has(kTorchSteps); }

void range_begins(const char* name) {
  if (!makes_steps() || !session::may_be_marker(*name)) return;
  session::torch_range_begins(name, ticks());
}

void range_ended(const char* name) {
  if (!makes_steps() || !session::may_be_marker(*name)) return;
  session::torch_range_ended(name, ticks());
}

// ---- observers
// -------------------------------------------------------------------------------------------------------

void observe_operators(bool wanted);

/// Nothing is active here. If it does not become so, operators have shown all that they can. A forked child leaves the
/// observers alone: another thread of its parent may have held a lock of theirs.
[[gnu::noinline]] void first_sign_of_life(const char* range) {
  static constinit std::atomic<bool> is_over{false}, operators_are_over{false};
  if (is_over.load(std::memory_order_relaxed)) return;
  const Known known = activate_once(range);
  if (known == Known::kNo) return;
  if (known == Known::kYes) is_over = true;
  if (!operators_are_over.exchange(true) && !recording() && !is_forked_child()) observe_operators(false);
}

template <Scope scope>
std::unique_ptr<ObserverContext> begins(const void* record_function) {
  const int saved_errno = errno;
  if constexpr (scope == Scope::kUser) {
    const char* const name = name_of(record_function);
    if (recorder::mode() == 0) first_sign_of_life(name);
    if (name != nullptr) {
      range_begins(name);
      if (recording()) open(record_function, hook_of(scope), name);
    }
  } else {
    if (recorder::mode() == 0) first_sign_of_life(nullptr);
    if (recording()) {
      if (const char* const name = name_of(record_function)) open(record_function, hook_of(scope), name);
    }
  }
  errno = saved_errno;
  return nullptr;
}

template <Scope scope>
void ended(const void* record_function, ObserverContext*) {
  const int saved_errno = errno;
  if (recorder::mode() != 0) {
    const bool was_here = close(record_function);
    if constexpr (scope == Scope::kUser) {
      if (!was_here) close_elsewhere(record_function);
      if (const char* const name = name_of(record_function)) range_ended(name);
    }
  }
  errno = saved_errno;
}

template <Scope scope>
std::uint64_t observe() {
  Callback callback;
  callback.start = begins<scope>;
  callback.end = ended<scope>;
  callback.scopes[static_cast<int>(scope)] = true;
  callback.needs_inputs = recorder::mode_has(kTorchInputs) && known_layout() != nullptr;
  return add_callback(callback);
}

// Operators are observed while they are recorded, and until the process has shown who it is.
constinit std::mutex observers_mutex;
constinit bool observes_operators = false;
constinit std::uint64_t observers[4] = {};

/// With an observer that wants them the inputs are there for all of a scope.
std::unique_ptr<ObserverContext> only_wants_inputs(const void*) { return nullptr; }
void after_wanting_inputs(const void*, ObserverContext*) {}
std::uint64_t want_inputs_of_ranges() {
  Callback callback;
  callback.start = only_wants_inputs;
  callback.end = after_wanting_inputs;
  callback.scopes[static_cast<int>(Scope::kUser)] = true;
  callback.needs_inputs = known_layout() != nullptr;
  return add_callback(callback);
}

void observe_operators(bool wanted) {
  if (!torch_is_here.load(std::memory_order_acquire)) return;
  const std::lock_guard one_at_a_time(observers_mutex);
  if (wanted == observes_operators) return;
  observes_operators = wanted;
  if (wanted) {
    observers[0] = observe<Scope::kFunction>();
    observers[1] = observe<Scope::kBackwardFunction>();
    observers[2] = observe<Scope::kTorchScript>();
    observers[3] = want_inputs_of_ranges();
  } else {
    for (const std::uint64_t observer : observers) remove_callback(observer);
  }
}

void find_places() {
  if (!torch_is_here.load(std::memory_order_acquire) || recorder::mode() == 0) return;
  static std::once_flag once;
  std::call_once(once, [] { find_layout(reinterpret_cast<const void*>(add_callback)); });
}

void follow(bool armed) {
  define_groups();
  const Spec* const spec = session::spec();
  observe_operators(armed && spec != nullptr && spec->activities.cpu);
}

}  // namespace

void look_for_torch() {
  static constinit std::mutex looking;
  const std::unique_lock only_one(looking, std::try_to_lock);
  if (!only_one.owns_lock() || torch_is_here.load(std::memory_order_relaxed)) return;
  add_callback = reinterpret_cast<AddCallback>(inject::resolve_in(kAddCallback, Layer::kTorch));
  if (add_callback == nullptr) return;
  remove_callback = reinterpret_cast<RemoveCallback>(inject::resolve_in(kRemoveCallback, Layer::kTorch));
  name_of = reinterpret_cast<Name>(inject::resolve_in(kName, Layer::kTorch));
  if (remove_callback == nullptr || name_of == nullptr) return;
  torch_is_here.store(true, std::memory_order_release);
  find_places();
  observe<Scope::kUser>();
  observe_operators(recorder::mode() == 0 || recording());
}

bool is_imported() { return torch_is_here.load(std::memory_order_relaxed); }

Callback operator_observer() {
  Callback callback;
  callback.start = begins<Scope::kFunction>;
  callback.end = ended<Scope::kFunction>;
  return callback;
}

void on_activate() {
  session::call_when_arming(follow);
  session::measure_cost_with(Layer::kTorch, operator_cost);
  look_for_torch();
  find_places();
  // Those of before the activation do not ask for inputs.
  observe_operators(false);
  start_memory();
  follow(recorder::mode_has(kArmed));
}

}  // namespace profshim::torch
