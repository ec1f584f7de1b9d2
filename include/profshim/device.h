// Records GPU activity with CUPTI: device activity (kernels, copies, memsets, graphs) and CUDA API calls become events
// of the device block of the spool. A process that never uses CUDA never opens CUPTI. Nothing here throws, and nothing
// holds a lock of ours while it calls CUPTI.
//
//   off --start()--> ready --arm()--> recording --disarm()--> draining --(all activity delivered)--> ready
//                      \______________ yielded (another client uses CUPTI) ______________/
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Receives the calls that make steps (steps.source = "kernel" and "cuda_profiler_api"), on the thread that calls CUDA,
/// before the call takes effect. `mangled_name` is valid during the call only.
struct StepListener {
  void (*kernel_launch)(const char* mangled_name, Ticks at);
  void (*graph_launch)();
  void (*profiler_range)(bool begins, Ticks at);
};
/// Sets the listener. Call it before start().
void listen(const StepListener& listener);

/// Returns an upper bound of the host memory, in bytes, that start() and a recording use if the whole recorder may use
/// `memory` bytes: at most a 20th of it. Returns 0 if GPU activity is not recorded.
std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory);
/// Sets the bytes of host memory that the whole recorder may use (recorder::Room). Call it before start().
void set_memory_budget(std::uint64_t bytes);
/// Starts the device thread, which waits for the end of cuInit, finds libcupti (never a second copy) and calls `ready`
/// once. Call it when CUDA comes up in this process and the session records: inside cuInit, on a thread of the job. It
/// returns at once; a second call does nothing. On failure the traces say what is missing. `spec` must outlive the
/// process.
void start(const Spec& spec, void (*ready)());
/// Waits until CUPTI has been found and, if a window is open, until CUPTI is on. Called by a thread of the job before a
/// CUDA function takes effect. All such waits of the process together end half a second after the first.
void await_start();
/// Returns true if the device thread has found a CUPTI that works.
bool available();

/// Begins to record: the warm-up (`window_begin` = 0), or a window. The device thread switches CUPTI on; if it comes on
/// after the begin of the window, the trace says so. Returns at once, except in cudaProfilerStart, which waits at most
/// 0.2 s. Idempotent; may be called before start(). Called on the thread of the step boundary, also inside a callback
/// of CUPTI.
void arm(Ticks window_begin);
/// Stops recording launches from `at` on. The device thread switches CUPTI off and waits for the device activity that
/// was launched before. `stays_on`: the next window is near, so CUPTI stays on (or comes on), and events are dropped
/// until arm(). Returns at once. Idempotent; may be called before start(). Any thread.
void disarm(Ticks at, bool stays_on);
/// Returns true if all device activity launched before `end` has been delivered, or was given up as lost (the trace
/// says so); also without CUPTI. Otherwise asks the device thread to wait for it. The writer calls this before it
/// gathers a window. Any thread.
bool settled(Ticks end);

/// Returns true if, since the last call, CUPTI ran out of buffers or dropped records: the open window is incomplete.
/// Collector thread.
bool take_overflow();
/// Returns gettid() of the device thread; 0 if there is none.
std::int32_t device_thread_id();

/// Takes what is complete and stops, at the end of the process. `abrupt`: does not wait for activity that still runs.
void finish(bool abrupt);
/// Turns the GPU part off in a forked child, where CUDA is unusable.
void abandon_in_child();

/// Surround the launches of one NCCL operation: CUPTI ties them to the operation's `id` (external correlation). Do
/// nothing unless CUPTI records. The thread that launches.
void push_external_correlation(std::uint32_t id);
void pop_external_correlation();

/// The hooks of inject/ call this before another client of CUPTI takes effect in this process: our client flushes, lets
/// go of CUPTI and stays away until resume(). `call` is the function that the other client called, for the log. Returns
/// true if CUPTI was ours until now: what the other client had registered earlier must then be registered again.
bool yield_to_other_client(const char* call);
/// The other client has registered the timestamp callback `clock`; null = it has none any more.
void on_other_client_clock(std::uint64_t (*clock)());
/// The other client has registered buffer callbacks. `completed` (a CUpti_BuffersCallbackCompleteFunc) receives its
/// buffers that CUPTI returns to us; null = it has none any more.
void on_other_client_buffers(void* completed);
/// The other client records nothing: it has only registered something, or has disabled every kind. A flush may follow.
/// Our client comes back after a second without one.
void on_other_client_silent();
/// The other client has let go: our client comes back. Returns at once.
void resume();

/// Gives up our subscription to callbacks, for steps, since another client takes CUPTI's only one. The activity API is
/// not touched.
void release_callbacks(const char* call);
/// Subscribes again, when the other client has unsubscribed.
void take_callbacks();
/// Returns true if CUPTI works and no other client uses it. Any thread.
bool owns_cupti();
/// Returns true if our CUPTI has the subscriber API (13.3).
bool has_subscriber_api();
/// Returns true if other subscribers can record at the same time.
bool subscribers_share();

}  // namespace profshim::device
