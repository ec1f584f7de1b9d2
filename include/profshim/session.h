// One recording, start to end. Called by inject/ only. Nothing here throws; nothing here blocks a job's thread but
// activate() (once, inside MPI_Init) and finish() (once, at the end of the process).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Reads the environment once (constructor). True when this process is asked to take part: some PROFSHIM_* is set and
/// PROFSHIM is not off. Creates nothing. Also notes the folder the program was started in: relative paths mean that
/// one, wherever the job goes.
bool requested();

/// By the spec, which is read for it: where ranges of PyTorch (or of whatever comes, "auto") make the steps, the
/// patterns of those that make steps or epochs; else none. Before activate().
std::vector<std::string> step_ranges();

/// The first strong event of this process (MPI_Init has returned): reads the spec, decides whether this rank records,
/// and if so creates the spool and the threads. A second call does nothing. Job's thread, any signal mask. `began`:
/// when that event began, by ticks() after choose_clock(): there the one window of steps.source = "none" begins; 0 =
/// now.
void activate(const Rank& rank, Ticks began = 0);

enum class End : std::uint8_t {
  kNormal,    // exit(), return from main: waits for the writer as long as it makes progress
  kAbrupt,    // _exit, quick_exit, abort, MPI_Abort: the same, but for output.exit_seconds without progress at most
  kReplaced,  // exec*(), daemon(): waits for output.exit_seconds at most
  kSignal,    // a signal that ends the process: likewise
};
/// Called when recording begins (warm-up or window) and ends, on the thread that makes it so: at once if `armed` says
/// so.
void call_when_arming(void (*function)(bool armed));
/// `measure` gives what recording one call of that layer costs, in ns, by recording some on a recorder::ScratchThread;
/// < 0: cannot be measured. The writer thread calls it once, while a window is open; the layer may come up after that
/// one opened. It must do nothing that the job could notice.
void measure_cost_with(Layer layer, double (*measure)());
/// Called by the collector thread every few milliseconds from now on (looking for newly loaded libraries).
void call_every_tick(void (*function)());

/// Closes what is open, waits for the writer. Idempotent; does nothing in a forked or vforked child. Any thread. All
/// but kNormal are carried out by the collector thread, so that a signal handler of the job's may call _exit() wherever
/// it came in: the calling thread takes no lock and no memory. kSignal is the collector's.
void finish(End how);
/// The process ends without having shown that it is a rank or a job, although `library` ("libmpi.so.40") is loaded,
/// which jobs use: one line, from the lowest selected rank the environment knows. Does nothing after activate().
void say_never_activated(const char* library);
/// Does the calling process record, and is it to wait for its traces before it becomes another program? Not in a child.
/// Any thread, no lock.
bool ends_with_this_process();
/// MPI_Finalize has been called: what is complete goes to disk now; recording goes on.
void flush();

// ---- steps
// -----------------------------------------------------------------------------------------------------------

/// In force from activate() on; constant afterwards. Null before, and when this rank does not record.
const Spec* spec();

/// A boundary at `at`, seen on the calling thread. The first thread that makes one is the step thread; boundaries of
/// other threads are counted and ignored. `number` is what the marker's name says. Applies every, min_interval and the
/// schedule. `marker`: the text or symbol that made it, kept of the first one; 0 = none.
void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
/// The marker range of the step that is running has ended (NVTX): where the last step ends when no boundary follows.
void step_marker_ended(Ticks at);
namespace detail {
/// One bit per byte that a step or epoch marker may begin with; all of them for a pattern that begins with a wildcard.
extern constinit std::uint64_t marker_first_bytes[4];
}  // namespace detail
/// A first test of one load, for texts that are no markers.
inline bool may_be_marker(char first_byte) {
  const auto first = static_cast<unsigned char>(first_byte);
  return (detail::marker_first_bytes[first / 64] >> (first % 64) & 1) != 0;
}
/// NVTX range `text` (domain-qualified patterns are not supported): is it a step marker? `number` gets the last integer
/// of the text. Locks the pattern of "auto" at the first match. Cheap when the first characters differ.
bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number);
/// A range of PyTorch's (record_function) begins or has ended at `at` on the calling thread: makes steps and epochs of
/// those that are markers. Cheap when the first character differs: ask may_be_marker() first.
void torch_range_begins(const char* name, Ticks at);
void torch_range_ended(const char* name, Ticks at);
/// The epoch marker of steps.epoch, likewise; call epoch_boundary() with its text when it begins.
bool is_epoch_marker(std::string_view text);
void epoch_boundary(std::string_view text);
/// steps.source = "cuda_profiler_api": cudaProfilerStart (`begins`) or Stop is called at `at` on the calling thread.
/// From the one to the other is a step, and a window that the step ends closes there. A Start inside a range and a Stop
/// outside of one mean nothing, as for the driver.
void on_profiler_range(bool begins, Ticks at);
/// steps.source = "kernel": the calling thread launches a kernel of that (mangled) name at `at`. The first of
/// consecutive matches on a thread is a boundary.
void on_kernel_launch(const char* name, Ticks at);
/// Likewise a CUDA graph: the kernels in it are not told.
void on_graph_launch();
/// steps.source = "collective": does this function make a boundary?
bool is_step_hook(HookId hook);

}  // namespace profshim::session
