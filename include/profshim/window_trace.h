// Turns one window of a spool into a Kineto trace. Used by the writer thread and `profshim recover`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profshim/spool/view.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// CPU use while a window was open. Microseconds; all but `measured_us` are CPU time.
struct CpuUse {
  double measured_us = 0;  // between two readings, each up to some ms after the window's begin or end
  double waited_us = 0;    // sum over the job's threads: runnable, but not running
  double process_us = 0;   // of this process
  double machine_us = 0;   // of all processes, on all CPUs
  double stolen_us = 0;    // taken from this virtual machine by its host, on all CPUs
  int cpus = 0;
};

struct WindowTraceOptions {
  std::string trace_name;        // final path, the last key of the file
  bool recovered = false;        // made by `profshim recover`
  double overhead_percent = -1;  // < 0: unknown
  double stall_us = -1;          // < 0: unknown
  std::optional<CpuUse> cpu;
  std::uint64_t memory_entries = ~std::uint64_t{0};  // most kTorchMemory events shown
  // For sample_size() of a window that may be open: only these runs, and events that began at `since` or later.
  std::optional<std::vector<spool::Run>> only;
  Ticks since = 0;
};
struct WindowSummary {
  std::uint64_t events = 0;  // of all kinds
  std::uint64_t calls = 0;   // calls and ranges of the job's threads, without CUDA API calls
  std::uint64_t of_layer[static_cast<std::size_t>(Layer::kCount)] = {};  // the same calls, by Event::hook
  std::uint64_t memory = 0;                                              // kTorchMemory
  std::uint64_t device = 0;                                              // CUPTI API calls and device activity
  std::uint64_t dropped = 0;
  std::int64_t first_step = 0, last_step = -1;  // as shown; first > last = no steps
  bool complete = true;
  bool truncated = false;
};

/// Gathers a window's events (constructor) and writes them (write()); only this class knows Kineto's form. The view
/// must outlive it. One thread.
class WindowTraceBuilder {
 public:
  WindowTraceBuilder(const spool::View& view, std::uint64_t window_number, const WindowTraceOptions& options);
  ~WindowTraceBuilder();
  WindowTraceBuilder(const WindowTraceBuilder&) = delete;
  WindowTraceBuilder& operator=(const WindowTraceBuilder&) = delete;
  const WindowSummary& summary() const;
  /// For the metadata; call before write().
  void set_options(const WindowTraceOptions& options);
  /// Returns true if only Init/Finalize was recorded and no step completed.
  bool empty() const;
  /// Returns false if the sink failed. Calls `on_progress`, if any, every few thousand events.
  bool write(ByteSink& sink, const std::function<void()>& on_progress);
  bool has_stacks() const;
  /// As torch.profiler's export_stacks(): per stack a line of frames, outermost first, separated by ";", then a space
  /// and the microseconds in its calls without the calls inside them. Returns false if the sink failed.
  bool write_stacks(ByteSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Estimated JSON size of an open window's events.
struct SampledSize {
  double fixed_bytes = 0;      // of a trace without events
  double bytes_per_event = 0;  // per event in the spool; 0 = no event to sample
};
/// Measures the trace of a few runs with events that ended at `since` or later. No chunk may change hands meanwhile.
/// Writer thread; takes some ms.
SampledSize sample_size(const spool::View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries);

}  // namespace profshim::kineto
