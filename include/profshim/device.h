// What the GPU does, as CUPTI tells it: device work and CUDA API calls become Events of the device lane of the spool.
// A process that never uses CUDA never opens CUPTI. Nothing here throws; no lock of ours is held over a call of CUPTI.
//
//   off --start()--> ready --arm()--> recording --disarm()--> draining --(all work delivered)--> ready
//                      \______________ yielded (another client has CUPTI) ______________/
#pragma once

#include <cstdint>

#include "profshim/base.h"
#include "profshim/spec.h"

namespace profshim::device {

/// Who is told what makes steps (steps.source = "kernel" and "cuda_profiler_api"): on the thread that calls CUDA,
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
/// CUDA comes up in this process and the session records. Finds libcupti (never a second copy), registers the clock and
/// the buffers, starts the device thread. Inside cuInit on a thread of the job, once; a second call does nothing. What
/// is missing is said through recorder::problem(), once.
void start(const Spec& spec);
/// Has start() found a CUPTI that works?
bool available();

/// Recording begins: warm-up, for which nobody waits, or a window (`window_begin`, else 0): buffers are ready, kinds
/// are on when this returns, or the trace says from when on they were. Idempotent; nothing before start(), which arms
/// by itself when the recorder is armed already. The thread of the step boundary, also inside a callback of CUPTI.
void arm(Ticks window_begin);
/// What is launched from `at` on is not wanted. Returns at once: the device thread waits for the work launched before,
/// then turns CUPTI off, so that after a window everything is as before it.
void disarm(Ticks at);
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
/// Its timestamp callback is the one in force.
void other_client_has_clock();
/// The other client has let go: as it was before when this returns, where that can be had in a moment.
void resume();

/// cuInit has not been seen through InitializeInjection but CUDA is used, or CUPTI cannot be opened: true = the symbol
/// hooks are all there is.
bool needs_symbol_hooks();

}  // namespace profshim::device
