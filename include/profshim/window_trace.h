// From one window of a spool to a Kineto trace. The writer thread and `profshim recover` use it.
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
  double measured_us = 0;  // between the two readings: each may come some ms after the window's own begin or end
  double waited_us = 0;    // sum over the job's threads: runnable, but not running
  double process_us = 0;   // used by this process
  double machine_us = 0;   // used by all processes, on all CPUs
  double stolen_us = 0;    // on all CPUs: taken from this virtual machine by its host
  int cpus = 0;
};

/// Input of a trace that the spool does not hold.
struct WindowTraceOptions {
  std::string trace_name;        // final path, the last key of the file
  bool recovered = false;        // made by `profshim recover`
  double overhead_percent = -1;  // < 0: unknown
  double stall_us = -1;          // < 0: unknown
  std::optional<CpuUse> cpu;
  std::uint64_t memory_entries = ~std::uint64_t{0};  // kTorchMemory events shown at most
  // For a sample of a window that may still be open (see sample_size()): only these runs, and only events that began at
  // `since` or later.
  std::optional<std::vector<spool::Run>> only;
  Ticks since = 0;
};
struct WindowSummary {
  std::uint64_t events = 0;  // trace events written, all kinds
  std::uint64_t calls = 0;   // recorded calls and ranges of the job's threads, without CUDA API calls
  std::uint64_t of_layer[static_cast<std::size_t>(Layer::kCount)] = {};  // the same calls, by Event::hook
  std::uint64_t memory = 0;                                              // kTorchMemory
  std::uint64_t device = 0;                                              // API calls and device activity from CUPTI
  std::uint64_t dropped = 0;
  std::int64_t first_step = 0, last_step = -1;  // step numbers as shown; first > last = no steps
  bool complete = true;
  bool truncated = false;
};

/// Gathers the events of a window (constructor) and writes them in Kineto's form (write()). This is the only place
/// where events get that form. The view must outlive the builder. One thread.
class WindowTraceBuilder {
 public:
  WindowTraceBuilder(const spool::View& view, std::uint64_t window_number, const WindowTraceOptions& options);
  ~WindowTraceBuilder();
  WindowTraceBuilder(const WindowTraceBuilder&) = delete;
  WindowTraceBuilder& operator=(const WindowTraceBuilder&) = delete;
  const WindowSummary& summary() const;
  /// Replaces the options that go into the metadata; call it before write().
  void set_options(const WindowTraceOptions& options);
  /// Returns true if only Init/Finalize was recorded and no step was completed: the window is not worth a file.
  bool empty() const;
  /// Streams the whole trace into the sink; returns false if the sink failed. Calls `on_progress`, unless it is empty,
  /// every few thousand events.
  bool write(ByteSink& sink, const std::function<void()>& on_progress);
  /// Returns true if any event has a call stack.
  bool has_stacks() const;
  /// Writes the stacks in the format of torch.profiler's export_stacks(): one line per stack with the frames from the
  /// outermost inward, separated by ";", then a space and the microseconds spent in the calls with this stack, without
  /// the calls inside them. Returns false if the sink failed.
  bool write_stacks(ByteSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Estimated JSON size of the events of an open window.
struct SampledSize {
  double fixed_bytes = 0;      // of a trace without events
  double bytes_per_event = 0;  // per event in the spool; 0 = no event to sample
};
/// Builds the trace of a few runs that hold events that ended at `since` or later, and counts its bytes. No chunk may
/// change hands meanwhile. Writer thread; takes some ms.
SampledSize sample_size(const spool::View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries);

}  // namespace profshim::kineto
