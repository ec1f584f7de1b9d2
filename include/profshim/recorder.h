// Functions of the recorder for hooks. Except in rare cases, such as the first call of a thread, they take no lock,
// allocate nothing and make no system call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "profshim/base/process/process_words.h"
#include "profshim/event.h"
#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Bits of mode(). kMpi to kCuda: see Spec::activities.
enum : std::uint32_t {
  kActive = 1,     // recorded rank: follow communicators and count collectives
  kArmed = 2,      // commit events (warm-up or window)
  kHookSteps = 4,  // see session::is_step_hook()
  kNvtxSteps = 8,  // see session::is_step_marker()
  kMpi = 16,
  kNvtx = 32,
  kNccl = 64,
  kCuda = 128,
  kCudaCalls = 256,  // CUPTI is missing or yielded: hooks of hooks/cuda.def record the calls
  kCudaSteps = 512,  // see session::on_profiler_range()
  kTorch = 2048,
  kTorchSteps = 4096,  // see session::torch_range_begins()
  kTorchInputs = 8192,
  kEachPoll = 1024,        // capture.mpi_polls = "each"
  kMemory = 32768,         // PyTorch's allocations and releases
  kStacks = 16384,         // see profshim/call_stack.h
  kOperatorSteps = 65536,  // see session::operator_begins()
  kPythonCalls = 131072,
  kStarting = 1u << 31,  // a thread begins the recording: see is_off()
};

/// Size of BlockTable (inject/core/block_table.h), part of limits.host_memory if kMemory is set.
inline constexpr std::uint64_t kBlockTableBytes = (4 << 20) + 64;

namespace detail {
extern constinit std::atomic<Ticks> last_boundary;
extern constinit std::atomic<std::uint64_t> windows_opened;
extern thread_local constinit spool::Thread* this_thread __attribute__((tls_model("initial-exec")));
spool::Thread* register_thread();
bool next_chunk(spool::Thread& thread);
void count_lost_open_call();
void count_threadless();
void close_left_calls(spool::Thread& thread, Layer layer);
}  // namespace detail

/// If the result is 0, a hook only calls the real function. 0 in a child of any fork (base/process/process_words.h): a
/// hook in whose real function a child was made must look again before it touches the thread's block, which is the
/// parent's.
inline std::uint32_t mode() { return process_words.mode.load(std::memory_order_relaxed); }
/// True if nothing is recorded yet: mode() is 0, or a thread begins the recording.
inline bool is_off() { return static_cast<std::int32_t>(mode()) <= 0; }
inline bool mode_has(std::uint32_t bits) { return (mode() & bits) == bits; }

/// Returns the begin of the last step or window. A kMpiPolls event that began earlier must not be extended.
inline Ticks last_boundary() { return detail::last_boundary.load(std::memory_order_relaxed); }

/// Returns the number of windows that were opened.
inline std::uint64_t windows_opened() { return detail::windows_opened.load(std::memory_order_acquire); }

/// Registers the calling thread at its first call. Null if the thread table is full. Call only if mode() != 0.
inline spool::Thread* this_thread() {
  spool::Thread* const t = detail::this_thread;
  return __builtin_expect(t != nullptr, 1) ? t : detail::register_thread();
}

/// Null if the thread is not registered.
inline spool::Thread* known_thread() { return detail::this_thread; }

/// Counts a lost event of an unregistered thread, if activities in `wanted` (mode bits) are recorded.
inline void lose_event(std::uint32_t wanted) {
  if (mode_has(kArmed | wanted)) detail::count_threadless();
}

/// Returns the slot of the thread's next event: fill it, then call publish(). Null if no chunk is free (counted as
/// lost). A signal handler may fill the run between next_slot() and publish(): `next` may then lie behind chunk_end.
inline Event* next_slot(spool::Thread& t) {
  if (__builtin_expect(t.next >= t.chunk_end, 0) && !detail::next_chunk(t)) return nullptr;
  return t.next;
}
inline void publish(spool::Thread& t) {
  ++t.next;
  // `count` is the first word of the run's header; events follow the header.
  const auto slots =
      (reinterpret_cast<std::uintptr_t>(t.next) - reinterpret_cast<std::uintptr_t>(t.count)) / sizeof(Event);
  // Release: a reader that acquires the count sees the counted events. Pairs with for_each_run().
  t.count->store(static_cast<std::uint32_t>(slots) - 1, std::memory_order_release);
}
/// Returns the thread's last event. Null if its current run (spool/format.h) is empty or full.
inline Event* last_committed(const spool::Thread& t) {
  const auto* const header = reinterpret_cast<const Event*>(t.count);
  const bool owns_it = t.next != nullptr && t.next < t.chunk_end && t.next > header + 1;
  return owns_it ? t.next - 1 : nullptr;
}
inline void commit(spool::Thread& t, const Event& event) {
  Event* const slot = next_slot(t);
  if (slot == nullptr) return;
  *slot = event;
  publish(t);
}

/// Returns a slot for a call that ends on the same thread. Assign the whole Event (begin and end 0), then call begin(),
/// the real function, end(). Null if kMaxOpenCalls are open (counted as lost).
inline Event* open_call(spool::Thread& t) {
  if (__builtin_expect(t.open_calls >= spool::kMaxOpenCalls, 0)) {
    detail::count_lost_open_call();
    return nullptr;
  }
  return &t.open[t.open_calls++];
}
inline void begin(Event& call) {
  // begin != 0 marks the other fields as valid: the compiler must not move their stores behind this one.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  call.begin = ticks();
}
/// Frees the slot of `call`. Ranges may end in any order: a slot is reused once all slots above it are free.
inline void discard(spool::Thread& t, Event& call) {
  call.begin = 0;
  while (t.open_calls > 0 && t.open[t.open_calls - 1].begin == 0) --t.open_calls;
}
/// Does not store `now` into `call` before the copy: the copy's 16-byte load would stall about 8 ns (failed store
/// forwarding).
inline void copy_ended(Event& to, const Event& call, Ticks now) {
  to.begin = call.begin;
  to.end = now;
  constexpr std::size_t kRest = offsetof(Event, hook);
  std::memcpy(reinterpret_cast<char*>(&to) + kRest, reinterpret_cast<const char*>(&call) + kRest, sizeof to - kRest);
}
inline void end_at(spool::Thread& t, Event& call, Ticks now) {
  if (Event* const slot = next_slot(t)) {
    copy_ended(*slot, call, now);
    publish(t);
  }
  discard(t, call);
}
inline void end(spool::Thread& t, Event& call) { end_at(t, call, ticks()); }

/// Marks the thread as inside a layer (kNone, kMpi or kNccl). Only an outermost() call is recorded. longjmp, an
/// exception or a cancellation may skip the destructor. A later frame that is not kLeastFrame bytes below the outermost
/// call's frame proves that the outermost call was left.
class LayerScope {
 public:
  [[gnu::always_inline]] LayerScope(spool::Thread& t, Layer layer)
      : outermost_(t.outermost[static_cast<int>(layer)]),
        here_(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) {
    if (__builtin_expect(outermost_ != 0 && outermost_ < here_ + kLeastFrame, 0)) detail::close_left_calls(t, layer);
    if (outermost_ == 0) outermost_ = here_;
    __asm__ volatile("" : : "r"(room_));  // keeps room_ in the frame
  }
  ~LayerScope() {
    if (outermost() && mode() != 0) outermost_ = 0;
  }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;
  bool outermost() const { return outermost_ == here_; }

 private:
  /// Minimum bytes between the frames of a hook and a nested hook. Frames of hooks called in turn are closer.
  static constexpr std::uintptr_t kLeastFrame = 256;
  std::uintptr_t& outermost_;
  const std::uintptr_t here_;
  [[maybe_unused]] char room_[kLeastFrame];
};

/// Returns a slot for an operation that may end on another thread. Set `begin` last: from then until release_pending(),
/// traces show the operation as unfinished. Lock-free. Null if all slots are in use (counted as lost).
Event* take_pending();
void release_pending(Event* slot);

/// Equal texts have equal ids, unless the index is full. Lock-free, no allocation. Cuts a text longer than `limit`.
/// Returns 0 for "", if mode() is 0, and if the arena is full (counted as lost).
StringId intern(std::string_view text, std::size_t limit = spool::kMaxName);
/// As intern(), for a non-empty C string; faster if the same address often holds the same text.
StringId intern_literal(const char* text);
/// The view is valid until the session ends.
std::string_view text_of(StringId id);

/// Thread-safe. A definition for which the table has no room is dropped and counted.
void define(spool::DefinitionKind kind, std::uint32_t id, StringId name, StringId text = 0,
            std::initializer_list<std::int64_t> values = {});
/// Adds a member to the "profshim" object of later traces; the last value of a key counts.
void add_metadata(std::string_view key, std::string_view json);
/// Counts a loss in the window that is open. Any thread.
void count_loss(Loss loss, std::uint64_t number = 1);
/// Adds a sentence to the list "problems" of later traces, once. missing(): what the spec asks for is missing from now
/// on, so that the window in progress and later ones are incomplete.
void problem(std::string_view source, std::string_view sentence);
void missing(std::string_view source, std::string_view sentence);

}  // namespace profshim::recorder
