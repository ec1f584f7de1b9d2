// GPU activity by CUPTI: kernels, copies, memsets, graphs and CUDA API calls become events of the spool's device block.
// A process without CUDA never opens CUPTI. No function throws, or holds our locks while it calls CUPTI.
//
//   off --start()--> ready --arm()--> recording --disarm()--> draining --(all activity delivered)--> ready
//                      \______________ yielded (another client uses CUPTI) ______________/
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Receives the calls that make steps (steps.source "kernel", "cuda_profiler_api"), on the calling thread, before the
/// call takes effect. `mangled_name` is valid during the call only.
struct StepListener {
  void (*kernel_launch)(const char* mangled_name, Ticks at);
  void (*graph_launch)();
  void (*profiler_range)(bool begins, Ticks at);
};
/// Call it before start().
void listen(const StepListener& listener);

/// Upper bound of host memory for the GPU part: at most a 20th of `memory`, the bytes of the whole recorder. 0 if GPU
/// activity is not recorded.
std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory);
/// Bytes of the whole recorder (recorder::Room). Call it before start().
void set_memory_budget(std::uint64_t bytes);
/// Starts the device thread, which waits for the end of cuInit, finds libcupti (never a second copy) and calls `ready`
/// once. Called inside cuInit, on a job thread. Returns at once; a second call does nothing. On failure the traces say
/// what is missing. `spec` must outlive the process.
void start(const Spec& spec, void (*ready)());
/// Waits until CUPTI is found and, with an open window, on. Called on a job thread before a CUDA function takes effect.
/// All waits of the process end half a second after the first began.
void await_start();
/// A working CUPTI was found.
bool available();

/// Begins to record the warm-up (`window_begin` = 0) or a window. If CUPTI comes on later, the trace says so. Returns
/// at once; only cudaProfilerStart waits, up to 0.2 s. Idempotent; may precede start(). Called on the thread of the
/// step boundary, also inside CUPTI callbacks.
void arm(Ticks window_begin);
/// Stops recording launches from `at` on; the device thread waits for earlier activity. `stays_on`: the next window is
/// near, so CUPTI is on, and events are dropped until arm(). Returns at once. Idempotent; may precede start(). Any
/// thread.
void disarm(Ticks at, bool stays_on);
/// Returns true without CUPTI, or if all activity launched before `end` was delivered or given up as lost (the trace
/// says so). Otherwise asks the device thread to wait for it. Called before the writer gathers a window. Any thread.
bool settled(Ticks end);

/// CUPTI ran out of buffers or dropped records since the last call: the open window is incomplete. Collector thread.
bool take_overflow();
/// gettid(), or 0.
std::int32_t device_thread_id();

/// At the end of the process: takes what is complete and stops. `abrupt`: does not wait for running activity.
void finish(bool abrupt);
/// In a forked child, where CUDA is unusable.
void abandon_in_child();

/// Surround the launches of one NCCL operation: CUPTI ties them to `id`. No effect unless CUPTI records. Launching
/// thread.
void push_external_correlation(std::uint32_t id);
void pop_external_correlation();

/// Called by hooks before another client of CUPTI takes effect: our client flushes and lets go until resume(). `call`:
/// the other client's call, for the log. Returns true if CUPTI was ours until now: earlier registrations of the other
/// client must then be repeated.
bool yield_to_other_client(const char* call);
/// The other client's timestamp callback; null = none any more.
void on_other_client_clock(std::uint64_t (*clock)());
/// `completed` (a CUpti_BuffersCallbackCompleteFunc) receives the other client's buffers that CUPTI returns to us; null
/// = none any more.
void on_other_client_buffers(void* completed);
/// The other client only registered something, or disabled every kind. Our client comes back after a second without a
/// flush.
void on_other_client_silent();
/// The other client has let go. Returns at once.
void resume();

/// Gives up our callback subscription (for steps), since another client takes CUPTI's only one. The activity API is not
/// touched.
void release_callbacks(const char* call);
/// Subscribes again after the other client has unsubscribed.
void take_callbacks();
/// CUPTI works and no other client uses it. Any thread.
bool owns_cupti();
/// CUPTI 13.3 or later.
bool has_subscriber_api();
/// Other subscribers can record at the same time.
bool subscribers_share();

}  // namespace profshim::device
