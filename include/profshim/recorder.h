// The hot side of the recorder: hooks ask here whether to record, and commit events. The inline functions run on the
// job's threads; they take no lock, do not allocate and make no system call. The out-of-line functions are rare: first
// call of a thread, a full run, a new string or definition.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "profshim/event.h"
#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Bits of the mode word, which tells the hooks what to do.
enum : std::uint32_t {
  kActive = 1,          // this process is a recorded rank: keep identities and sequence numbers
  kArmed = 2,           // commit events (warm-up or window)
  kHookSteps = 4,       // a hooked function is the step source: see session::is_step_hook()
  kNvtxSteps = 8,       // an NVTX range is the step source: see session::is_step_marker()
  kMpi = 16,            // record activity "mpi"
  kNvtx = 32,           // record activity "nvtx"
  kNccl = 64,           // record activity "nccl"
  kCuda = 128,          // record activity "cuda"
  kCudaCalls = 256,     // CUPTI is missing or was yielded: the hooks of hooks/cuda.def record the calls
  kCudaSteps = 512,     // cudaProfilerStart and Stop are the step source: see session::on_profiler_range()
  kTorch = 2048,        // record PyTorch operators
  kTorchSteps = 4096,   // a range of PyTorch may be the step source
  kTorchInputs = 8192,  // record shapes, types and values of operator inputs
  kEachPoll = 1024,     // capture.mpi_polls = "each": each unsuccessful poll is an event
  kMemory = 32768,      // record allocations and releases of PyTorch's allocators
  kStacks = 16384,      // record the stack of calls and operators: see profshim/call_stack.h
};

/// Upper bound of the memory of the block table (inject/core/block_table.h) in limits.host_memory, if kMemory is set.
inline constexpr std::uint64_t kBlockTableBytes = (4 << 20) + 64;

namespace detail {
extern constinit std::atomic<std::uint32_t> mode;
extern constinit std::atomic<Ticks> last_boundary;
extern thread_local constinit spool::Thread* this_thread __attribute__((tls_model("initial-exec")));
spool::Thread* register_thread();
bool next_chunk(spool::Thread& thread);
void count_lost_open_call();
void count_threadless();
void close_left_calls(spool::Thread& thread, Layer layer);
}  // namespace detail

/// Returns the mode word by one relaxed load. 0 = nothing to record: call the real function and return.
inline std::uint32_t mode() { return detail::mode.load(std::memory_order_relaxed); }
/// Returns true if all of `bits` are set.
inline bool mode_has(std::uint32_t bits) { return (mode() & bits) == bits; }

/// Returns the begin of the last step or window. An event that began earlier must not be extended.
inline Ticks last_boundary() { return detail::last_boundary.load(std::memory_order_relaxed); }

/// Returns the calling thread's block; registers the thread at its first call. Null if the mode is 0 or the table of
/// threads is full. Call it only when mode() != 0.
inline spool::Thread* this_thread() {
  spool::Thread* const t = detail::this_thread;
  return __builtin_expect(t != nullptr, 1) ? t : detail::register_thread();
}

/// Returns the calling thread's block if it has one already, else null.
inline spool::Thread* known_thread() { return detail::this_thread; }

/// Counts a lost event of this thread, which has no block, if the activities in `wanted` (mode bits) are recorded now.
inline void lose_event(std::uint32_t wanted) {
  if (mode_has(kArmed | wanted)) detail::count_threadless();
}

/// Returns the slot of this thread's next event: fill it, then call publish(). Null if no chunk is free (counted).
/// `next` may lie behind the end: a signal handler of the job may have filled the run between next_slot() and
/// publish().
inline Event* next_slot(spool::Thread& t) {
  if (__builtin_expect(t.next >= t.chunk_end, 0) && !detail::next_chunk(t)) return nullptr;
  return t.next;
}
inline void publish(spool::Thread& t) {
  ++t.next;
  // `count` is the first word of the run's header, and the first event lies directly behind that header.
  const auto slots =
      (reinterpret_cast<std::uintptr_t>(t.next) - reinterpret_cast<std::uintptr_t>(t.count)) / sizeof(Event);
  // Release: a reader that loads the count with acquire sees the events it counts. Pairs with for_each_run().
  t.count->store(static_cast<std::uint32_t>(slots) - 1, std::memory_order_release);
}
/// Returns the last event that this thread committed, if it lies in the current run and may still be changed, else
/// null.
inline Event* last_committed(const spool::Thread& t) {
  const auto* const header = reinterpret_cast<const Event*>(t.count);
  const bool owns_it = t.next != nullptr && t.next < t.chunk_end && t.next > header + 1;
  return owns_it ? t.next - 1 : nullptr;
}
/// Copies one finished event into the thread's run.
inline void commit(spool::Thread& t, const Event& event) {
  Event* const slot = next_slot(t);
  if (slot == nullptr) return;
  *slot = event;
  publish(t);
}

/// Returns a slot for a call that begins now and ends later on the same thread. The caller assigns the whole Event
/// (begin and end 0), then calls begin(), the real function, end(). The open call lies in the spool, so that the trace
/// of a hung or killed rank shows it. Null if kMaxOpenCalls are open already (counted as lost).
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
/// Removes an open call. Ranges may end in any order: the slot of a removed call is reused once all slots above it are
/// free.
inline void discard(spool::Thread& t, Event& call) {
  call.begin = 0;
  while (t.open_calls > 0 && t.open[t.open_calls - 1].begin == 0) --t.open_calls;
}
/// Copies an open call with its end. `end` is stored into the copy only: had it been stored into `call`, the 16-byte
/// load of the copy would span that recent 8-byte store and stall about 8 ns (failed store forwarding).
inline void copy_ended(Event& to, const Event& call, Ticks now) {
  to.begin = call.begin;
  to.end = now;
  constexpr std::size_t kRest = offsetof(Event, hook);
  std::memcpy(reinterpret_cast<char*>(&to) + kRest, reinterpret_cast<const char*>(&call) + kRest, sizeof to - kRest);
}
/// Ends a call at `now`, a clock reading of the caller, and commits it.
inline void end_at(spool::Thread& t, Event& call, Ticks now) {
  if (Event* const slot = next_slot(t)) {
    copy_ended(*slot, call, now);
    publish(t);
  }
  discard(t, call);
}
inline void end(spool::Thread& t, Event& call) { end_at(t, call, ticks()); }

/// Marks the thread as inside a layer (kNone, kMpi or kNccl) during its lifetime. outermost() returns true if no other
/// call of the layer is running, so that this call is to be recorded.
/// A call may be left without its destructor (longjmp, an exception or a cancellation out of an error handler). Stacks
/// grow down, so the frame of a nested call lies below the frame of the call around it. A new call whose frame is
/// not at least kLeastFrame bytes further down therefore proves that the outermost call was left. Limit: a call that
/// was left, and is followed by calls further down the stack only, counts as still running.
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
    if (outermost()) outermost_ = 0;
  }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;
  bool outermost() const { return outermost_ == here_; }

 private:
  /// Minimum distance in bytes between the frame of a hook and the frame of a hook nested in it. room_ guarantees it,
  /// however small the frames between them are. Two hooks called by the same function one after the other are closer
  /// than that: their frames differ only by the arguments.
  static constexpr std::uintptr_t kLeastFrame = 256;
  std::uintptr_t& outermost_;
  const std::uintptr_t here_;
  [[maybe_unused]] char room_[kLeastFrame];
};

/// Returns a slot in the spool for an operation that may end on another thread (a non-blocking operation, an NVTX
/// start/end range). Set its begin last; traces show it as unfinished until it is released. Lock-free. Null if all
/// slots are in use (counted).
Event* take_pending();
void release_pending(Event* slot);

/// Returns the id of a text in the spool's string table; equal texts have equal ids. Lock-free, no allocation. A text
/// longer than `limit` is cut and ends with "...". 0 for "", and if the arena is full (counted).
StringId intern(std::string_view text, std::size_t limit = spool::kMaxName);
/// The same for a C string that is not empty; faster if the same address often holds the same text.
StringId intern_literal(const char* text);
/// Returns the text of an id from intern(). The text lives as long as the session.
std::string_view text_of(StringId id);

/// Appends a definition, the meaning of an id in events, to the spool. Any thread. Dropped and counted if the table is
/// full.
void define(spool::DefinitionKind kind, std::uint32_t id, StringId name, StringId text = 0,
            std::initializer_list<std::int64_t> values = {});
/// Adds a member to the object "profshim" of every later trace; the last value of a key counts. `json`: a JSON value.
void add_metadata(std::string_view key, std::string_view json);
/// Adds a sentence to problems[] of every later trace, once per sentence: what could not be recorded, and the loss.
void problem(std::string_view source, std::string_view sentence);

}  // namespace profshim::recorder
