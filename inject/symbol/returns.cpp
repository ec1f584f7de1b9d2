#include "returns.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>

#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

#if defined(__x86_64__)

namespace profshim::symbol {
namespace {

/// A call in progress. The unwind rules in routines.S need `true_address` at the begin, and the size.
struct alignas(64) Slot {
  std::uintptr_t true_address;
  std::uintptr_t* stack_place;  // of the return address
  std::uint64_t phases;
  Event* range;
  std::atomic<std::int32_t> tid;  // 0 = free
  StringId name;
};
static_assert(sizeof(Slot) == 64);

constexpr std::uint32_t kSlots = 256;  // as in routines.S

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] constinit Slot profshim_return_slots[kSlots] = {};
[[gnu::visibility("hidden")]] extern const char profshim_return_code[], profshim_resume_in_caller[];
}
constexpr std::size_t kCodeBytes = 32, kEntry = 8;  // code of a slot, and where it begins behind the slot's distance

std::uintptr_t code_of(std::uint32_t slot) {
  return reinterpret_cast<std::uintptr_t>(profshim_return_code) + slot * kCodeBytes + kEntry;
}

std::int32_t own_tid() {
  const spool::Thread* const thread = recorder::known_thread();
  return thread != nullptr ? thread->tid.load(std::memory_order_relaxed)
                           : static_cast<std::int32_t>(syscall(SYS_gettid));
}

/// Frees the slot. In a forked child, the phase is not reported.
void end_call(Slot& slot) {
  Event* const range = slot.range;
  const std::uint64_t phases = slot.phases;
  slot.stack_place = nullptr;
  slot.tid.store(0, std::memory_order_release);
  if (recorder::mode() != 0) phase_ranges::end(range, phases);
}

std::uint32_t index_of(const Slot& slot) { return static_cast<std::uint32_t>(&slot - profshim_return_slots); }

/// Null unless `address` is the code of a slot.
Slot* slot_at(std::uintptr_t address) {
  const std::uintptr_t distance = address - code_of(0);
  return distance < kSlots * kCodeBytes && distance % kCodeBytes == 0 ? &profshim_return_slots[distance / kCodeBytes]
                                                                      : nullptr;
}

/// longjmp() leaves a call without its return. Another return address at the same place of the stack proves it, unless
/// it leads to that of the call: then the function has ended with a jump to another one, whose call this is.
void end_left_calls(const std::uintptr_t* stack_place, std::int32_t tid) {
  for (Slot& slot : profshim_return_slots) {
    if (slot.tid.load(std::memory_order_relaxed) != tid || slot.stack_place != stack_place) continue;
    const Slot* next = slot_at(*stack_place);
    while (next != nullptr && next != &slot) next = slot_at(next->true_address);
    if (next == nullptr) end_call(slot);
  }
}

Slot* take_slot(std::int32_t tid) {
  for (Slot& slot : profshim_return_slots) {
    std::int32_t free = 0;
    if (slot.tid.compare_exchange_strong(free, tid, std::memory_order_acquire)) return &slot;
  }
  return nullptr;
}

/// Returns the slot of the innermost call on this thread, or null.
Slot* innermost() {
  Slot* found = nullptr;
  const std::int32_t tid = own_tid();
  for (Slot& slot : profshim_return_slots) {
    if (slot.tid.load(std::memory_order_relaxed) != tid || slot.stack_place == nullptr) continue;
    // If several calls share a place, it holds the code of the call that returns first.
    const bool is_inner = found == nullptr || slot.stack_place < found->stack_place;
    if (is_inner || (slot.stack_place == found->stack_place && slot_at(*slot.stack_place) == &slot)) found = &slot;
  }
  return found;
}

/// Read by routines.S.
struct Resumption {
  std::uintptr_t true_address;
  void (*resume)(_Unwind_Exception*);
};
thread_local constinit Resumption resumption __attribute__((tls_model("initial-exec"))) = {};

struct Unwinder {
  void (*set_register)(void* context, int number, std::uintptr_t value);
  void (*set_ip)(void* context, std::uintptr_t value);
  void (*resume)(_Unwind_Exception*);
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  if (void* const found = dlsym(library, name)) function = reinterpret_cast<Function>(found);
}

/// Returns the functions of the unwinder that calls from `address`: a process may have several. A program that was
/// linked with -static-libgcc exports none; its contexts are those of our own copy of libgcc.
Unwinder unwinder_of(const void* address) {
  Unwinder unwinder{
      [](void* context, int number, std::uintptr_t value) {
        _Unwind_SetGR(static_cast<_Unwind_Context*>(context), number, value);
      },
      [](void* context, std::uintptr_t value) { _Unwind_SetIP(static_cast<_Unwind_Context*>(context), value); },
      _Unwind_Resume};
  Dl_info module{};
  if (dladdr(address, &module) == 0 || module.dli_fname == nullptr) return unwinder;
  void* const library = dlopen(module.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return unwinder;
  find(library, "_Unwind_SetGR", unwinder.set_register);
  find(library, "_Unwind_SetIP", unwinder.set_ip);
  find(library, "_Unwind_Resume", unwinder.resume);
  dlclose(library);
  return unwinder;
}

}  // namespace

bool watch_return(std::uintptr_t* return_address, std::uint64_t phases, StringId name) {
  const std::int32_t tid = own_tid();
  end_left_calls(return_address, tid);
  Slot* const slot = take_slot(tid);
  if (slot == nullptr) return false;
  slot->true_address = *return_address;
  slot->stack_place = return_address;
  slot->phases = phases;
  slot->name = name;
  slot->range = phase_ranges::begin(phases, name);
  *return_address = code_of(index_of(*slot));
  return true;
}

std::string why_no_returns() {
  constexpr int kShadowStackStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  if (syscall(SYS_arch_prctl, kShadowStackStatus, &features) == 0 && features != 0)
    return "this process has a shadow stack";
  // Fills the tables of our own copy of libgcc, see unwinder_of().
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
  return "";
}

extern "C" {

/// routines.S has saved all registers. Returns the true return address.
[[gnu::visibility("hidden"), gnu::used]] std::uintptr_t profshim_call_returned(std::uint32_t index) noexcept {
  Slot& slot = profshim_return_slots[index];
  const std::uintptr_t address = slot.true_address;
  end_call(slot);
  return address;
}

/// Personality routine of the slots' code: the unwinder calls it for the frames that an exception or a cancellation
/// leaves, innermost first. Source: Itanium C++ ABI, exception handling, 1.6.
[[gnu::visibility("hidden"), gnu::used]] int profshim_call_unwound(int, int actions, std::uint64_t, void* exception,
                                                                   void* context) noexcept {
  constexpr int kCleanup = 2, kHandlerFrame = 4;     // _UA_...
  constexpr int kInstallContext = 7, kContinue = 8;  // _URC_...
  if ((actions & kCleanup) == 0) return kContinue;
  Slot* const slot = innermost();
  if (slot == nullptr) return kContinue;
  resumption = {slot->true_address, nullptr};
  end_call(*slot);
  // The handler is in the caller, whose frame has the same CFA as this one: an unwinder takes both for the handler's.
  if ((actions & kHandlerFrame) == 0) return kContinue;
  const Unwinder unwinder = unwinder_of(__builtin_return_address(0));
  resumption.resume = unwinder.resume;
  unwinder.set_register(context, 0, reinterpret_cast<std::uintptr_t>(exception));    // rax
  unwinder.set_register(context, 1, reinterpret_cast<std::uintptr_t>(&resumption));  // rdx
  unwinder.set_ip(context, reinterpret_cast<std::uintptr_t>(profshim_resume_in_caller));
  return kInstallContext;
}
}

}  // namespace profshim::symbol

#else

namespace profshim::symbol {
bool watch_return(std::uintptr_t*, std::uint64_t, StringId) { return false; }
std::string why_no_returns() { return "this works on x86-64 only"; }
}  // namespace profshim::symbol

#endif
