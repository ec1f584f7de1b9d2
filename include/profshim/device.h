// Records the GPU through CUPTI: kernels, copies, memsets, graphs and CUDA API calls become events in the spool. A
// process without CUDA never opens CUPTI. No function throws, or holds profshim's locks while it calls CUPTI.
//
//   off --start()--> ready --arm()--> recording --disarm()--> draining --(all activity delivered)--> ready
//                      \______________ yielded (another client uses CUPTI) ______________/
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Receives the CUDA calls that make steps (steps.source "kernel", "cuda_profiler_api"), on the calling thread, before
/// the call takes effect. `mangled_name` is valid during the call only.
struct StepListener {
  void (*kernel_launch)(const char* mangled_name, Ticks at);
  void (*graph_launch)();
  void (*profiler_range)(bool begins, Ticks at);
};
/// Call before start().
void listen(const StepListener& listener);

/// Returns the most host memory for CUPTI's buffers and our tables: at most a 20th of `memory`, the bytes of the whole
/// recorder. 0 if GPU activity is not recorded.
std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory);
/// Sets the bytes that the whole recorder may hold (recorder::Room). Call before start().
void set_memory_budget(std::uint64_t bytes);
/// Starts the device thread, which waits for the end of cuInit, finds the libcupti in use (never a second copy) and
/// calls `ready` once. Hooks call start() inside cuInit. It returns at once; a second call does nothing. `spec` must
/// outlive the process.
void start(const Spec& spec, void (*ready)());
/// Waits until CUPTI is found and, if a window is open, switched on. Hooks call it before a CUDA function takes effect.
/// All waits of the process end half a second after the first began.
void await_start();
/// True if a working CUPTI was found.
bool available();

/// Begins to record the warm-up (`window_begin` = 0) or a window. Returns at once; only cudaProfilerStart waits, up to
/// 0.2 s. Idempotent; may precede start(). Called on the step thread, also inside CUPTI callbacks.
void arm(Ticks window_begin);
/// Stops recording launches from `at` on; the device thread waits for earlier activity. `stays_on`: the next window is
/// near, so CUPTI stays on; its events are dropped until arm(). Idempotent and thread-safe; may precede start().
void disarm(Ticks at, bool stays_on);
/// True without CUPTI, or if all activity launched before `end` was delivered or given up as lost. Otherwise asks the
/// device thread to wait for that activity. Thread-safe. Called before a window's events are collected.
bool settled(Ticks end);

/// True if CUPTI ran out of buffers or dropped records since the last call: the open window is incomplete. Called on
/// the collector thread.
bool take_overflow();
/// Returns the device thread's tid, or 0.
std::int32_t device_thread_id();

/// Ends the recording with the process, keeping completed activity. `abrupt`: does not wait for running activity.
void finish(bool abrupt);
/// Ends the recording in a forked child, where CUDA is unusable.
void abandon_in_child();

/// Called around the launches of one NCCL operation, on the launching thread: CUPTI's records of them get `id`.
void push_external_correlation(std::uint32_t id);
void pop_external_correlation();

/// Called by a hook before `call` of another CUPTI client takes effect: our client flushes and releases CUPTI until
/// resume(). Returns true if our client had CUPTI until now: the hook must then repeat the other client's
/// registrations.
bool yield_to_other_client(const char* call);
/// Sets the other client's timestamp callback; null = none any more.
void on_other_client_clock(std::uint64_t (*clock)());
/// `completed` (a CUpti_BuffersCallbackCompleteFunc) receives the other client's buffers that CUPTI returns to us; null
/// = none any more.
void on_other_client_buffers(void* completed);
/// Call when the other client only registers a callback, or disables every activity kind. Unless it flushes, our client
/// takes CUPTI back after a second.
void on_other_client_silent();
/// Takes CUPTI back after the other client has released it.
void resume();

/// Gives up our callback subscription (for steps), because another client takes CUPTI's only one. Activity recording
/// goes on.
void release_callbacks(const char* call);
/// Subscribes again after the other client has unsubscribed.
void take_callbacks();
/// True if CUPTI works and no other client uses it. Thread-safe.
bool owns_cupti();
/// True for CUPTI 13.3 or later.
bool has_subscriber_api();
/// True if other subscribers can record at the same time.
bool subscribers_share();

}  // namespace profshim::device
