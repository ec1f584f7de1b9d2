// GPU activity from CUPTI: device work and CUDA API calls become Events of the device lane of the spool.
// A process that never uses CUDA never opens CUPTI. Nothing here throws; no lock of ours is held over a call of CUPTI.
//
//   off --start()--> ready --arm()--> recording --disarm()--> draining --(all work delivered)--> ready
//                      \______________ yielded (another client has CUPTI) ______________/
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Hears of the calls that make steps (steps.source = "kernel" and "cuda_profiler_api"): on the thread that calls CUDA,
/// before the call takes effect. `mangled_name` is valid during the call.
struct StepListener {
  void (*kernel_launch)(const char* mangled_name, Ticks at);
  void (*graph_launch)();
  void (*profiler_range)(bool begins, Ticks at);
};
/// Before start().
void listen(const StepListener& listener);

/// Host memory that start() and a recording hold at the most, where all of the recording may hold `memory`: a 20th of
/// it, or less. 0 = none is wanted.
std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory);
/// All that the recording may hold of host memory (recorder::Room). Before start().
void set_budget(std::uint64_t bytes);
/// CUDA comes up in this process and the session records. Starts the device thread, which waits for the end of cuInit,
/// finds libcupti (never a second copy) and calls `ready` once. Inside cuInit on a thread of the job; takes no time. A
/// second call does nothing. The trace says what is missing. `spec` lives as long as the process.
void start(const Spec& spec, void (*ready)());
/// The first call of a CUDA function, before it takes effect: waits until CUPTI has been found, and where a window is
/// open already until it is on; for half a second of the job's time in all at the most. Thread of the job.
void await_start();
/// Has the device thread found a CUPTI that works?
bool available();

/// Recording begins: warm-up (`window_begin` = 0), or a window. Returns at once: the device thread switches CUPTI
/// on, and where that comes after the begin of the window the trace says so. Only cudaProfilerStart waits for it, a
/// fifth of a second at the most. Idempotent; also before start(). The thread of the step boundary, also inside a
/// callback of CUPTI.
void arm(Ticks window_begin);
/// Launches from `at` on are not wanted. Returns at once: the device thread turns CUPTI off, so that after a window
/// everything is as before it, and waits for the work that was launched before. `stays_on`: the next window is near, so
/// CUPTI stays on, or goes on; nothing is kept until arm(). Idempotent; also before start(). Any thread.
void disarm(Ticks at, bool stays_on);
/// Has all device work that was launched before `end` been delivered or given up as lost (said in the trace)? Asked by
/// the writer before it gathers a window; true at once without CUPTI. Any thread.
bool settled(Ticks end);

/// CUPTI ran out of room or dropped records since the last call: the open window is not whole (R27). Collector thread.
bool take_trouble();
/// gettid() of the device thread, 0 = there is none.
std::int32_t own_thread();

/// The process ends: takes what is complete and stops. `abrupt`: does not wait for work that is still running.
void finish(bool abrupt);
/// In a forked child: CUDA is unusable there, and so are we.
void abandon_in_child();

/// Around the calls that launch the work of one NCCL operation: joins the two (CUPTI external correlation). The calling
/// thread; nothing unless recording.
void push_operation(std::uint32_t operation);
void pop_operation();

/// Another client of CUPTI appears in this process: ours flushes, lets go and stays away until resume(). `call` is the
/// function it called, for the log line. Called by the hooks of inject/ before that call takes effect. True when CUPTI
/// was ours until now: what the client had registered before we came back has to be registered anew.
bool yield_to_other_client(const char* call);
/// It has registered a timestamp callback; null = it has none any more.
void other_client_has_clock(std::uint64_t (*clock)());
/// It has registered buffer callbacks: `completed` (CUpti_BuffersCallbackCompleteFunc) gets its buffers that come back
/// to us; null = it has none any more.
void other_client_has_buffers(void* completed);
/// It records nothing: it has registered something, or disabled every kind. A flush may follow; if none does, we come
/// back after a second.
void other_client_is_silent();
/// The other client has let go: we come back. Returns at once.
void resume();

/// Another client takes CUPTI's only place for callbacks: ours, for steps, are given up; take_callbacks() when it is
/// free again. The activity API is not touched.
void give_up_callbacks(const char* call);
void take_callbacks();
/// Is CUPTI ours now: it works, and no other client has it? Any thread.
bool owns_cupti();
/// Is our place in CUPTI that of a subscriber (13.3)?
bool has_subscriber_place();
/// Can other subscribers record at the same time?
bool subscribers_share();

}  // namespace profshim::device
