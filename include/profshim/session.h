// The session: one recording, from start to end. Only inject/ calls these functions; none throws. Only activate() and
// finish() block a thread of the job, once each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/spec.h"

namespace profshim::session {

/// True if a variable PROFSHIM_* is set and PROFSHIM is not off. The first call (library constructor) reads the
/// environment and remembers the working directory as the base of relative paths.
bool requested();

/// The patterns of PyTorch ranges that make steps or epochs; empty unless steps.source is "torch" or "auto". Call
/// before activate().
std::vector<std::string> step_ranges();

/// Starts the recording at the first event that tells the rank (such as MPI_Init): decides whether the rank is
/// recorded, and creates the spool and the threads. A second call does nothing. Runs on a thread of the job, with any
/// signal mask. `began`: begin of the event, by ticks() after choose_clock(); 0 = now. The only window of steps.source
/// = "none" begins there.
void activate(const Rank& rank, Ticks began = 0);

enum class End : std::uint8_t {
  kNormal,    // exit(), return from main: waits for the writer as long as it makes progress
  kAbrupt,    // _exit, quick_exit, abort, MPI_Abort: gives up after max(output.exit_seconds, 2 s) without progress
  kReplaced,  // exec*(), daemon(): waits at most output.exit_seconds
  kSignal,    // a signal that ends the process: likewise, on the collector thread
};
/// Registers a function to call when events begin (`armed`) or cease to be recorded: on the thread that makes the step
/// boundary, or closes a window by a limit.
void call_when_arming(void (*function)(bool armed));
/// Registers a function that measures a layer's cost: it records some calls on a recorder::ScratchThread and returns
/// the nanoseconds of one, or < 0 if it cannot. The writer thread calls it while a window is open.
void measure_cost_with(Layer layer, double (*measure)());
/// Registers a function to call every few milliseconds, on the collector thread.
void call_every_tick(void (*function)());

/// Closes the open window and waits for the writer. Idempotent and thread-safe; does nothing in a forked or vforked
/// child. Except for kNormal, the collector thread does the work; the caller, which may be a signal handler of the job,
/// waits without lock or allocation.
void finish(End how);
/// Call at the end of a process that has loaded `library` ("libmpi.so.40"). Logs a line if activate() was not called,
/// only on the lowest selected rank if known.
void report_never_activated(const char* library);
/// True if this process must wait for its traces before exec*() or daemon() replaces it; false in a child. Thread-safe
/// and lock-free.
bool ends_with_this_process();
/// Wakes the writer to write closed windows (at MPI_Finalize). Recording goes on.
void flush();

/// Returns the spec, constant from activate() on; null before, and if this rank is not recorded.
const Spec* spec();

/// Makes a step boundary, subject to steps.every, steps.min_interval_ms and the schedule. The first thread that makes
/// one is the step thread; boundaries of other threads are counted and ignored. `number`: the one in the marker's name.
/// `marker`: the marker's text or symbol, kept for the first boundary; 0 = none.
void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
/// Call when a step marker's range ends: the last step ends at `at` if no boundary follows.
void step_marker_ended(Ticks at);
namespace detail {
/// One bit per first byte of a step or epoch marker; all set if a pattern begins with a wildcard.
extern constinit std::uint64_t marker_first_bytes[4];
}  // namespace detail
/// Returns false if no marker begins with this byte.
inline bool may_be_marker(char first_byte) {
  const auto first = static_cast<unsigned char>(first_byte);
  return (detail::marker_first_bytes[first / 64] >> (first % 64) & 1) != 0;
}
/// True if an NVTX range with this text is a step marker, in any domain. `number`: the integer behind the pattern's
/// fixed part, else the last integer of the text. With steps.source = "auto", the first pattern that matches stays the
/// only one.
bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number);
/// Call for a PyTorch range (record_function) on its thread, if may_be_marker(). A marker makes a step or epoch.
void torch_range_begins(const char* name, Ticks at);
void torch_range_ended(const char* name, Ticks at);
/// True if the text matches steps.epoch: then call epoch_boundary() when the range begins.
bool is_epoch_marker(std::string_view text);
void epoch_boundary(std::string_view text);
/// For steps.source = "cuda_profiler_api": a step lasts from cudaProfilerStart (`begins`) to cudaProfilerStop. A Start
/// inside a step and a Stop outside are ignored.
void on_profiler_range(bool begins, Ticks at);
/// For steps.source = "kernel": call on the thread that launches a kernel with this mangled name. The first of
/// consecutive matching launches is a step boundary.
void on_kernel_launch(const char* name, Ticks at);
/// Call when a CUDA graph is launched: its kernels are unknown and make no steps.
void on_graph_launch();
/// True if calls of this function make steps (steps.source = "collective").
bool is_step_hook(HookId hook);

}  // namespace profshim::session
