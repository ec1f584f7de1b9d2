// One recording, from start to end. Only inject/ calls these functions. None of them throws. Only activate() (once,
// inside MPI_Init) and finish() (once, at the end of the process) block a thread of the job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Returns true if the environment asks this process to take part: some PROFSHIM_* is set and PROFSHIM is not off. The
/// first call (in the library's constructor) reads the environment and remembers the working directory, to which
/// relative paths refer from then on. Creates nothing.
bool requested();

/// Reads the spec and returns the patterns of the PyTorch ranges that make steps or epochs; empty unless steps.source
/// is "torch" or "auto". Before activate().
std::vector<std::string> step_ranges();

/// Starts the recording at the first strong event of this process (MPI_Init has returned): reads the spec, decides
/// whether this rank records, and if so creates the spool and the threads. A second call does nothing. Job's thread,
/// any signal mask. `began`: begin of that event, by ticks() after choose_clock(); 0 = now. The only window of
/// steps.source = "none" begins there.
void activate(const Rank& rank, Ticks began = 0);

enum class End : std::uint8_t {
  kNormal,    // exit(), return from main: waits for the writer as long as it makes progress
  kAbrupt,    // _exit, quick_exit, abort, MPI_Abort: the same, but for output.exit_seconds without progress at most
  kReplaced,  // exec*(), daemon(): waits for output.exit_seconds at most
  kSignal,    // a signal that ends the process: likewise
};
/// Registers a function that is called when recording begins (warm-up or window; `armed` = true) and when it ends, on
/// the thread that begins or ends it.
void call_when_arming(void (*function)(bool armed));
/// Registers the measurement of a layer's cost. `measure` records some calls of that layer on a
/// recorder::ScratchThread and returns the nanoseconds of one call; < 0: cannot be measured. The writer thread calls it
/// while a window is open, up to four times until it succeeds. A layer may register after the window has opened.
/// `measure` must have no effect that the job could notice.
void measure_cost_with(Layer layer, double (*measure)());
/// Registers a function that the collector thread calls every few milliseconds (looks for newly loaded libraries).
void call_every_tick(void (*function)());

/// Closes the open window and waits for the writer. Idempotent; does nothing in a forked or vforked child. Any thread.
/// The collector thread does the work of every kind but kNormal: a signal handler of the job may call _exit() at any
/// point, so the calling thread takes no lock and allocates nothing. Only the collector calls finish(kSignal).
void finish(End how);
/// Reports that the process ends without activate(), although `library` ("libmpi.so.40") is loaded, which jobs use: one
/// line, from the lowest selected rank that the environment tells. Does nothing after activate().
void report_never_activated(const char* library);
/// Returns true if this process records and has to wait for its traces before it becomes another program. Returns false
/// in a child. Any thread, no lock.
bool ends_with_this_process();
/// MPI_Finalize has been called: wakes the writer, which writes closed windows now. Recording goes on.
void flush();

// ---- steps

/// Returns the spec in force; it is constant from activate() on. Null before, and if this rank does not record.
const Spec* spec();

/// Makes a step boundary at `at` on the calling thread, subject to every, min_interval and the schedule. The first
/// thread that makes one is the step thread; boundaries on other threads are counted and ignored. `number`: the step
/// number in the marker's name. `marker`: text or symbol of the marker, kept for the first boundary; 0 = none.
void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
/// The marker range of the current step has ended (NVTX). The last step ends at `at` if no boundary follows.
void step_marker_ended(Ticks at);
namespace detail {
/// One bit for each first byte of a step or epoch marker; all bits are set if a pattern begins with a wildcard.
extern constinit std::uint64_t marker_first_bytes[4];
}  // namespace detail
/// Returns false if no marker begins with this byte. A first test that costs one load.
inline bool may_be_marker(char first_byte) {
  const auto first = static_cast<unsigned char>(first_byte);
  return (detail::marker_first_bytes[first / 64] >> (first % 64) & 1) != 0;
}
/// Returns true if an NVTX range with this text is a step marker (domain-qualified patterns are not supported).
/// `number`: the integer behind the pattern's fixed part, else the last integer of the text. The first match of "auto"
/// locks its pattern. Cheap if the first characters differ.
bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number);
/// A range of PyTorch (record_function) begins or has ended at `at` on the calling thread: makes a step or epoch if it
/// is a marker. Call may_be_marker() first.
void torch_range_begins(const char* name, Ticks at);
void torch_range_ended(const char* name, Ticks at);
/// Returns true if `text` is the epoch marker of steps.epoch. Then call epoch_boundary() with it when the range begins.
bool is_epoch_marker(std::string_view text);
void epoch_boundary(std::string_view text);
/// steps.source = "cuda_profiler_api": cudaProfilerStart (`begins`) or cudaProfilerStop is called at `at` on the
/// calling thread. A step lasts from Start to Stop, and a window that ends with the step closes at Stop. A Start inside
/// a range and a Stop outside of one are ignored, as the driver does.
void on_profiler_range(bool begins, Ticks at);
/// steps.source = "kernel": the calling thread launches a kernel with this (mangled) name at `at`. The first of
/// consecutive matches on a thread is a boundary.
void on_kernel_launch(const char* name, Ticks at);
/// steps.source = "kernel": the calling thread launches a CUDA graph, whose kernels are not known.
void on_graph_launch();
/// Returns true if this function makes a boundary (steps.source = "collective").
bool is_step_hook(HookId hook);

}  // namespace profshim::session
