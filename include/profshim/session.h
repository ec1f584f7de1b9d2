// One recording, from start to end. Only inject/ calls these functions; none throws. Only activate() and finish() block
// a thread of the job, once each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Returns true if some PROFSHIM_* is set and PROFSHIM is not off. The first call (library constructor) reads the
/// environment and remembers the working directory as the base of relative paths.
bool requested();

/// Returns the patterns of PyTorch ranges that make steps or epochs; empty unless steps.source is "torch" or "auto".
/// Before activate().
std::vector<std::string> step_ranges();

/// Starts the recording at the first strong event of this process (MPI_Init has returned): decides whether this rank
/// records, and creates the spool and the threads. A second call does nothing. Job's thread, any signal mask. `began`:
/// begin of the event, by ticks() after choose_clock(); 0 = now. The only window of steps.source = "none" begins there.
void activate(const Rank& rank, Ticks began = 0);

enum class End : std::uint8_t {
  kNormal,    // exit(), return from main: waits for the writer as long as it makes progress
  kAbrupt,    // _exit, quick_exit, abort, MPI_Abort: likewise, but at most output.exit_seconds without progress
  kReplaced,  // exec*(), daemon(): waits at most output.exit_seconds
  kSignal,    // a signal that ends the process: likewise
};
/// Calls `function` when recording begins (warm-up or window; `armed` = true) and ends, on the thread that begins or
/// ends it.
void call_when_arming(void (*function)(bool armed));
/// Registers the measurement of a layer's cost. `measure` records some calls on a recorder::ScratchThread, unnoticed by
/// the job, and returns the nanoseconds of one; < 0: cannot be measured. The writer thread calls it while a window is
/// open, up to four times until it succeeds.
void measure_cost_with(Layer layer, double (*measure)());
/// Calls `function` every few milliseconds, on the collector thread.
void call_every_tick(void (*function)());

/// Closes the open window and waits for the writer. Idempotent; does nothing in a forked or vforked child. Any thread.
/// A signal handler of the job may call _exit(), so the calling thread takes no lock and allocates nothing: except for
/// kNormal, the collector thread does the work. Only the collector calls finish(kSignal).
void finish(End how);
/// Logs one line, from the lowest selected rank in the environment, if the process ends without activate() although
/// `library` ("libmpi.so.40") is loaded.
void report_never_activated(const char* library);
/// Returns true if this process must wait for its traces before it becomes another program; false in a child. Any
/// thread, no lock.
bool ends_with_this_process();
/// For MPI_Finalize: the writer writes closed windows now. Recording goes on.
void flush();

/// Constant from activate() on. Null before, and if this rank does not record.
const Spec* spec();

/// Makes a step boundary, subject to every, min_interval and the schedule. The first thread that makes one is the step
/// thread; boundaries of other threads are counted and ignored. `number`: step number in the marker's name. `marker`:
/// its text or symbol, kept for the first boundary; 0 = none.
void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
/// For NVTX: the last step ends at `at` if no boundary follows.
void step_marker_ended(Ticks at);
namespace detail {
/// One bit per first byte of a step or epoch marker; all set if a pattern begins with a wildcard.
extern constinit std::uint64_t marker_first_bytes[4];
}  // namespace detail
/// Returns false if no marker begins with this byte. Costs one load.
inline bool may_be_marker(char first_byte) {
  const auto first = static_cast<unsigned char>(first_byte);
  return (detail::marker_first_bytes[first / 64] >> (first % 64) & 1) != 0;
}
/// Returns true if this NVTX range is a step marker; ignores domain-qualified patterns. `number`: the integer behind
/// the pattern's fixed part, else the last integer of the text. The first match of "auto" locks its pattern.
bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number);
/// For PyTorch ranges (record_function), on their thread: a marker makes a step or epoch. Call may_be_marker() first.
void torch_range_begins(const char* name, Ticks at);
void torch_range_ended(const char* name, Ticks at);
/// For steps.epoch. Call epoch_boundary() when the range begins.
bool is_epoch_marker(std::string_view text);
void epoch_boundary(std::string_view text);
/// steps.source = "cuda_profiler_api": cudaProfilerStart (`begins`) or cudaProfilerStop. A step lasts from Start to
/// Stop; a window that ends with the step closes at Stop. A Start inside a range and a Stop outside are ignored, as by
/// the driver.
void on_profiler_range(bool begins, Ticks at);
/// steps.source = "kernel": the calling thread launches a kernel with this mangled name. The first of consecutive
/// matches is a boundary.
void on_kernel_launch(const char* name, Ticks at);
/// The same for a CUDA graph, whose kernels are unknown.
void on_graph_launch();
/// For steps.source = "collective".
bool is_step_hook(HookId hook);

}  // namespace profshim::session
