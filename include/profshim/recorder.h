// The hot border: hooks ask whether to record and commit events here. Everything inline below runs on the job's threads
// and takes no lock, no allocation, no system call. What is out of line is rare (first call of a thread, a full chunk,
// a new string or definition).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "profshim/event.h"
#include "profshim/spool.h"

namespace profshim::recorder {

/// Bits of the mode word, the one thing that flows back into the job.
enum : std::uint32_t {
  kActive = 1,          // this process is a recorded rank: identities and sequence numbers are kept
  kArmed = 2,           // commit events (warm-up or window)
  kHookSteps = 4,       // a hooked function is the step source: see session::on_hook_step()
  kNvtxSteps = 8,       // an NVTX range is the step source: see session::is_step_marker()
  kMpi = 16,            // activity "mpi" is wanted
  kNvtx = 32,           // activity "nvtx" is wanted
  kNccl = 64,           // activity "nccl" is wanted
  kCuda = 128,          // activity "cuda" is wanted
  kCudaCalls = 256,     // CUPTI is not to be had or was yielded: the hooks of hooks/cuda.def record the calls
  kCudaSteps = 512,     // cudaProfilerStart and Stop are the step source: see session::on_profiler_range()
  kTorch = 2048,        // PyTorch operators are wanted
  kTorchSteps = 4096,   // a range of PyTorch may be the step source
  kTorchInputs = 8192,  // shapes, types and values of what operators are given
  kEachPoll = 1024,     // capture.mpi_polls = "each": polls that came to nothing are events of their own
  kMemory = 32768,      // what PyTorch's allocators give and take back is wanted
  kStacks = 16384,      // calls and operators have a stack: see profshim/call_stack.h
};

/// What remembering blocks takes of limits.host_memory where kMemory is set (inject/core/block_table.h), at the most.
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

/// One relaxed load. 0 = not ours: call the real function and return.
inline std::uint32_t mode() { return detail::mode.load(std::memory_order_relaxed); }
/// All of `bits` set?
inline bool mode_has(std::uint32_t bits) { return (mode() & bits) == bits; }

/// When the last step or window began: an event that began before it must not be extended.
inline Ticks last_boundary() { return detail::last_boundary.load(std::memory_order_relaxed); }

/// The calling thread's block; registers it at its first call. Null when the process is inert, or the thread is one of
/// our own, or the table is full. Call it only when mode() != 0.
inline spool::Thread* this_thread() {
  spool::Thread* const t = detail::this_thread;
  return __builtin_expect(t != nullptr, 1) ? t : detail::register_thread();
}

/// Its block if it has one already: for what a new thread cannot have.
inline spool::Thread* known_thread() { return detail::this_thread; }

/// Counts an event as lost that this thread, which has no block, would have committed for what `wanted` names.
inline void lose_event(std::uint32_t wanted) {
  if (mode_has(kArmed | wanted)) detail::count_threadless();
}

/// Where the next event of this thread goes: fill it, then publish(). Null when no chunk is to be had (counted). `next`
/// lies behind the end when a signal handler of the job has filled the chunk between the two.
inline Event* next_slot(spool::Thread& t) {
  if (__builtin_expect(t.next >= t.chunk_end, 0) && !detail::next_chunk(t)) return nullptr;
  return t.next;
}
inline void publish(spool::Thread& t) {
  ++t.next;
  // The first event lies behind the header, which the count is the first word of.
  const auto slots =
      (reinterpret_cast<std::uintptr_t>(t.next) - reinterpret_cast<std::uintptr_t>(t.count)) / sizeof(Event);
  // Pairs with the acquire load of whoever reads the run.
  t.count->store(static_cast<std::uint32_t>(slots) - 1, std::memory_order_release);
}
/// The event that this thread committed last, while the thread may still change it; null when there is none.
inline Event* last_committed(const spool::Thread& t) {
  const auto* const header = reinterpret_cast<const Event*>(t.count);
  const bool owns_it = t.next != nullptr && t.next < t.chunk_end && t.next > header + 1;
  return owns_it ? t.next - 1 : nullptr;
}
/// Copies one finished event into the thread's chunk.
inline void commit(spool::Thread& t, const Event& event) {
  Event* const slot = next_slot(t);
  if (slot == nullptr) return;
  *slot = event;
  publish(t);
}

/// A call that begins now and ends later on the same thread. The caller assigns the whole Event (begin and end 0), then
/// calls begin(), the real function, end(). While open it lies in the spool, so that a hung or killed rank shows it.
/// Null when 62 are open already (counted as lost).
inline Event* open_call(spool::Thread& t) {
  if (__builtin_expect(t.open_calls >= spool::kMaxOpenCalls, 0)) {
    detail::count_lost_open_call();
    return nullptr;
  }
  return &t.open[t.open_calls++];
}
inline void begin(Event& call) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin != 0 says that the rest is valid
  call.begin = ticks();
}
/// Forgets an open call. Ranges need not end in the order they began: a hole goes when the entries above it have gone.
inline void discard(spool::Thread& t, Event& call) {
  call.begin = 0;
  while (t.open_calls > 0 && t.open[t.open_calls - 1].begin == 0) --t.open_calls;
}
/// Copies an open call with its end. `end` goes straight into the copy: a 16-byte load over a store of 8 that has just
/// been made would wait for it, 8 ns or so.
inline void copy_ended(Event& to, const Event& call, Ticks now) {
  to.begin = call.begin;
  to.end = now;
  constexpr std::size_t kRest = offsetof(Event, hook);
  std::memcpy(reinterpret_cast<char*>(&to) + kRest, reinterpret_cast<const char*>(&call) + kRest, sizeof to - kRest);
}
/// Closes with a clock reading taken by the caller, and commits.
inline void end_at(spool::Thread& t, Event& call, Ticks now) {
  if (Event* const slot = next_slot(t)) {
    copy_ended(*slot, call, now);
    publish(t);
  }
  discard(t, call);
}
inline void end(spool::Thread& t, Event& call) { end_at(t, call, ticks()); }

/// Marks the thread as inside a layer (kNone, kMpi or kNccl); outermost() tells whether a call is to be recorded. Keep
/// it alive over the call. A call may be left without its end (longjmp, an exception or a cancellation out of an error
/// handler). Stacks grow down, and what is called inside a call lies below that one's frame: a call beside it or above
/// proves that it has gone. One that was left, and is followed by calls from far below only, is taken for one that
/// still runs.
class LayerScope {
 public:
  [[gnu::always_inline]] LayerScope(spool::Thread& t, Layer layer)
      : outermost_(t.outermost[static_cast<int>(layer)]),
        here_(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) {
    if (__builtin_expect(outermost_ != 0 && outermost_ < here_ + kLeastFrame, 0)) detail::close_left_calls(t, layer);
    if (outermost_ == 0) outermost_ = here_;
    __asm__ volatile("" : : "r"(room_));  // keeps it in the frame
  }
  ~LayerScope() {
    if (outermost()) outermost_ = 0;
  }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;
  bool outermost() const { return outermost_ == here_; }

 private:
  /// Bytes between the frame of a hook and that of the next one inside it, at the least: room_ sees to that, however
  /// thin a wrapper lies between. Frames of hooks that one function calls differ by their arguments only.
  static constexpr std::uintptr_t kLeastFrame = 256;
  std::uintptr_t& outermost_;
  const std::uintptr_t here_;
  [[maybe_unused]] char room_[kLeastFrame];
};

/// A slot in the spool for something that ends on whatever thread (a non-blocking operation, an NVTX start/end range):
/// set begin last; it is shown as unfinished until released. Lock-free; null when all 65536 are in use (counted).
Event* take_pending();
void release_pending(Event* slot);

/// The id of a text in the spool's table: the same for the same text. Lock-free, no allocation. Longer than
/// spool::kMaxName (or than `limit`): cut, with "..." at the end. 0 for "", and when the arena is full (counted).
StringId intern(std::string_view text, std::size_t limit = spool::kMaxName);
/// The same for a C string; quicker when the same address often holds the same text. Not empty.
StringId intern_literal(const char* text);
/// The text of an id given by intern(), valid as long as the session.
std::string_view text_of(StringId id);

/// Appends to the spool's definitions: what an id in an event means. Any thread; dropped and counted when full.
void define(spool::DefinitionKind kind, std::uint32_t id, StringId name, StringId text = 0,
            std::initializer_list<std::int64_t> values = {});
/// Said once in problems[] of every trace from now on: what could not be recorded and what is lost by it.
void problem(std::string_view source, std::string_view sentence);

}  // namespace profshim::recorder
