// One recording, from start to end. No function throws. Only activate(), finish(), allocation_failed() and
// on_profiler_range(), which waits for CUPTI, block a thread of the job.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/spec.h"

namespace profshim::session {

/// True if a variable PROFSHIM_* is set and PROFSHIM is not off. The first call reads the environment and the working
/// directory, the base of relative paths.
bool requested();

/// Returns the patterns of PyTorch ranges that make steps or epochs. Call before activate().
std::vector<std::string> step_ranges();

/// The words of process.require_any, as bits. kStart: the start of the process is enough.
enum class Use : std::uint8_t { kCuda = 1, kNccl = 2, kMpi = 4, kTorch = 8, kStart = 16 };
/// Notes that this process uses a library. Returns true if process.require_any names it or one that was noted earlier.
/// The first call reads the spec. Call before activate(), on any thread.
bool note_use(Use use);

/// True if the spec may name "start". Cheaper than note_use(): reads the spec's text only. Call in the constructor.
bool may_begin_at_start();
/// Call in a child of any fork before all other functions: forgets the recording of the parent, which goes on.
void leave_parent();

/// Call at the first event that tells the rank (such as MPI_Init). Starts the recording if the rank is selected. A
/// second call does nothing. `began`: begin of the window with steps.source = "none", by ticks() after choose_clock();
/// 0 = now.
void activate(const Rank& rank, Ticks began = 0);

enum class End : std::uint8_t {
  kNormal,    // exit(), return from main: waits while the writer makes progress
  kAbrupt,    // _exit, quick_exit, abort, MPI_Abort: gives up after max(output.exit_seconds, 2 s) without progress
  kReplaced,  // exec*(), daemon(): waits at most output.exit_seconds
  kSignal,    // a signal that ends the process: likewise
};
/// Registers a function that learns, on any thread, whether events are recorded (`armed`): at each step and each begin
/// and end of a window. At most two. Call after activate(), like the next two.
void call_when_arming(void (*function)(bool armed));
/// True while events are recorded only to find the steps.
bool only_searches();
/// Registers a function that measures the nanoseconds of recording one call of `layer` on a recorder::ScratchThread; <
/// 0 = unknown. The writer thread calls the function while a window is open.
void measure_cost_with(Layer layer, double (*measure)());
/// Registers a function to call every few milliseconds, on the collector thread; at most four.
void call_every_tick(void (*function)());

/// Closes the open window and waits for the writer. Idempotent and thread-safe; does nothing in a forked or vforked
/// child. Except for kNormal, callable in signal handlers: takes no lock and allocates nothing.
void finish(End how);
/// Call at the end of a process that has loaded `library` ("libmpi.so.40"). Logs a line if activate() was not called.
void report_never_activated(const char* library);

/// Adds a sentence about calls that no hook sees to "problems" of the traces and to the last lines of the job. Keeps
/// the first of each `matter`. Call while recording; any thread.
void report_unseen_calls(const char* matter, const char* sentence);
/// Call at the end of a process that computed, and used nothing that profshim records.
void report_nothing_used();
/// True if this process must wait for its traces before exec*() or daemon() replaces it; false in a child. Lock-free.
bool ends_with_this_process();
/// Wakes the writer to write closed windows.
void flush();
/// Call when an allocation of the job has failed for good and its event is recorded. With capture.profile_memory, the
/// first call in a window closes the windows at `end` and waits until they are written, at most output.exit_seconds.
/// Allocates nothing and takes no lock. `device`: or one of the two names.
inline constexpr int kHostMemory = -1, kUnknownDevice = -2;
void allocation_failed(std::uint64_t bytes, int device, Ticks end);

/// Returns null unless this process is recording. The spec is never destroyed.
const Spec* spec();
/// True if windows of steps or phases show the inputs of PyTorch's operators.
bool may_show_inputs();

/// Call before activate(), on any thread, for an operator or range of PyTorch that may turn out to make the steps: the
/// first recorded step then has the right number.
void note_earlier_marker(std::string_view name);

/// Begins a step unless steps.every or steps.min_interval_ms suppresses it. The first calling thread is the step
/// thread; boundaries of other threads are counted and ignored. `number`: from the marker's name. `marker`: its text or
/// symbol; 0 = none.
void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
/// Call when a step marker's range ends: the last step ends at `at` if no boundary follows.
void step_marker_ended(Ticks at);
namespace detail {
/// Bit N is set if a marker may begin with byte N.
extern constinit std::atomic<std::uint64_t> marker_first_bytes[4];
}  // namespace detail
/// Returns false if no step or epoch marker begins with this byte.
inline bool may_be_marker(char first_byte) {
  const auto first = static_cast<unsigned char>(first_byte);
  return (detail::marker_first_bytes[first / 64].load(std::memory_order_relaxed) >> (first % 64) & 1) != 0;
}
/// True if an NVTX range with this text is a step marker, in any domain. `number`: the integer behind the pattern's
/// fixed part, else the last integer of the text.
bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number);
/// Call for a PyTorch range (record_function) on its thread, if may_be_marker().
void torch_range_begins(const char* name, Ticks at);
void torch_range_ended(const char* name, Ticks at);
/// Call for each operator of PyTorch on its thread.
void operator_begins(const char* name, Ticks at);
/// Bit N: a range with this text makes phase N of the spec. Bit 32 + N: it is a tick of phase N. Call if
/// may_be_marker().
std::uint64_t phases_of(std::string_view text, PhaseSource api);
struct PhasePattern {
  std::string pattern;
  std::uint64_t phases;  // as phases_of() returns
};
/// Returns the patterns that the spec gives for this rank. Call after activate().
std::vector<PhasePattern> phase_patterns(PhaseSource source);
/// If true, the range's event has the flag kPhase, and is recorded even if nothing else is.
constexpr bool makes_phase(std::uint64_t phases) { return (phases & 0xffffffff) != 0; }
/// Call with the result of phases_of() when its range begins, before its event is recorded; and when it ends,
/// afterwards.
void phases_begin(std::uint64_t phases, Ticks at);
void phases_end(std::uint64_t phases, Ticks at);
/// Call when a range of phases that go on gives way on its thread, and when it goes on there.
void phases_pause(std::uint64_t phases, Ticks at);
void phases_resume(std::uint64_t phases, Ticks at);
/// If true, call epoch_boundary() when the range begins.
bool is_epoch_marker(std::string_view text);
void epoch_boundary(std::string_view text);
/// For steps.source = "cuda_profiler_api": a step lasts from cudaProfilerStart (`begins`) to cudaProfilerStop. A Start
/// inside a step and a Stop outside are ignored.
void on_profiler_range(bool begins, Ticks at);
/// For steps.source = "kernel": call on the launching thread. The first of consecutive launches with a matching
/// (mangled) name is a step boundary.
void on_kernel_launch(const char* name, Ticks at);
/// Call when a CUDA graph is launched: its kernels are unknown and make no steps.
void on_graph_launch();
/// True if calls of `hook` make steps (steps.source = "collective").
bool is_step_hook(HookId hook);
/// True if a step ends where its marker ends: call step_boundary() then.
bool steps_end_with_marker();
/// Counts changes of the markers: what matched none may match one now.
std::uint32_t marker_generation();

}  // namespace profshim::session
