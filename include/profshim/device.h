// Records GPU activity and CUDA API calls through CUPTI, as events in the spool. No function throws, or holds a lock of
// profshim while it calls CUPTI.
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Receives CUDA calls that may make steps, on the calling thread, before they take effect. `mangled_name` is valid
/// only during the call.
struct StepListener {
  void (*kernel_launch)(const char* mangled_name, Ticks at);
  void (*graph_launch)();
  void (*profiler_range)(bool begins, Ticks at);
};
/// Call before start().
void listen(const StepListener& listener);

/// Returns the host memory for CUPTI's buffers and our tables: at most a 20th of `memory`, the whole recorder's bytes.
std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory);
/// `bytes`: for the whole recorder. Call before start().
void set_memory_budget(std::uint64_t bytes);
/// Starts the device thread, which finds CUPTI after cuInit and then calls `ready`. Call inside or after cuInit.
/// Returns at once; a second start() does nothing. `spec` must never be destroyed.
void start(const Spec& spec, void (*ready)());
/// Waits until CUPTI is found and, if wanted, switched on. Call before each CUDA function's first call. All waits of
/// the process end half a second after the first began.
void await_start();
/// True if CUPTI works.
bool available();

/// Starts recording a window, or the warm-up if `window_begin` is 0. Returns at once; only cudaProfilerStart waits, up
/// to 0.2 s. Idempotent; may precede start(). May run inside CUPTI callbacks.
void arm(Ticks window_begin);
enum class NextWindow : std::uint8_t {
  kNone,
  kLater,  // may come: CUPTI stays on, and its records are discarded
  kNear,   // CUPTI stays on or is switched on, but its events are dropped until arm()
};
/// Stops recording activity launched after `at`. Idempotent and thread-safe; may precede start().
void disarm(Ticks at, NextWindow next);
/// True if all activity launched before `end` was delivered or lost, or there is no CUPTI. Otherwise asks the device
/// thread to wait for that activity. Thread-safe.
bool has_settled(Ticks end);

/// True if CUPTI ran out of buffers or dropped records since the last take_overflow().
bool take_overflow();
/// Returns a gettid(); 0 = no thread.
std::int32_t device_thread_id();

/// Ends the recording at the end of the process. `abrupt`: does not wait for running activity.
void finish(bool abrupt);
/// Call in a forked child, where CUDA is unusable.
void abandon_in_child();

/// Call around the launches of one NCCL operation, on their thread: CUPTI tags the records of these launches with `id`.
void push_external_correlation(std::uint32_t id);
void pop_external_correlation();

/// Flushes and releases CUPTI until resume() or on_other_client_silent(). Call before another client's `call` takes
/// effect. Returns true if our client had CUPTI: the hook must then repeat the other client's registrations.
bool yield_to_other_client(const char* call);
/// `clock`: the other client's timestamp callback; null = none.
void on_other_client_clock(std::uint64_t (*clock)());
/// `completed`: a CUpti_BuffersCallbackCompleteFunc for the other client's buffers that CUPTI returns to us; null =
/// none.
void on_other_client_buffers(void* completed);
/// Call when no other client records any more: our client takes CUPTI back after a second.
void on_other_client_silent();
/// Takes CUPTI back at once.
void resume();

/// Unsubscribes from CUPTI's callbacks (for steps): another client's `call` needs the only subscription.
void release_callbacks(const char* call);
/// Subscribes again. Call after the other client has unsubscribed or was refused.
void take_callbacks();
/// True if CUPTI works and no other client uses it. Thread-safe.
bool owns_cupti();
/// True for CUPTI 13.3 or later.
bool has_subscriber_api();
/// True if other subscribers can record at the same time.
bool subscribers_share();

}  // namespace profshim::device
