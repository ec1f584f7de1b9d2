#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profshim/spec.h"
#include "profshim/spool/view.h"
#include "profshim/trace/writer.h"
#include "profshim/window/costs.h"

namespace profshim::kineto {

/// Leaves events out of a trace; see LeftOut in src/kineto/filter/.
struct EventRules {
  std::vector<std::string> include = {}, exclude = {};  // patterns of names and categories; empty `include` = all
  double min_us = 0;

  bool any() const { return !include.empty() || !exclude.empty() || min_us > 0; }
};

/// Thrown by WindowTraceBuilder soon after WindowTraceOptions::give_up has returned true.
struct GivenUp : std::exception {};

struct WindowTraceOptions {
  std::string trace_name;  // final path of the trace
  bool recovered = false;
  double overhead_percent = -1;  // < 0: unknown
  double stall_us = -1;          // of the job in session::step_boundary(); < 0: unknown
  std::optional<CpuUse> cpu;
  EventRules rules = {};
  TraceObserver* observer = nullptr;                 // sees the events of the trace; must outlive the builder
  std::uint64_t memory_entries = ~std::uint64_t{0};  // most kTorchMemory events to show
  std::function<bool()> give_up = {};                // called every few thousand events, if set
  // For sample_size(): uses only these runs, and events since `since`.
  std::optional<std::vector<spool::Run>> only;
  Ticks since = 0;
};
struct WindowSummary {
  std::uint64_t events = 0;
  std::uint64_t calls = 0;  // calls and ranges of the job's threads, without those of CUDA's API and of Python
  std::uint64_t of_layer[static_cast<std::size_t>(Layer::kCount)] = {};
  std::uint64_t memory = 0;  // kTorchMemory
  std::uint64_t device = 0;  // CUPTI API calls and device activity
  std::uint64_t dropped = 0;
  std::int64_t first_step = 0, last_step = -1;  // as shown in the trace; first > last: no steps
  bool complete = true;                         // nothing is in `missing`
  std::vector<std::string> missing = {};        // see missing_in() (profshim/trace/completeness.h)
  std::vector<std::string> other_losses = {};  // of `missing`: without the window's end, full tables and dropped events
  bool truncated = false;
  std::string phase = {};  // "" = a window of steps
  std::int64_t occurrence = 0;
};

/// Collects a window's events; write() writes them as a Kineto trace. The view must outlive the builder. Not
/// thread-safe.
class WindowTraceBuilder {
 public:
  WindowTraceBuilder(const spool::View& view, std::uint64_t window_number, const WindowTraceOptions& options);
  ~WindowTraceBuilder();
  WindowTraceBuilder(const WindowTraceBuilder&) = delete;
  WindowTraceBuilder& operator=(const WindowTraceBuilder&) = delete;
  const WindowSummary& summary() const;
  /// Call before write().
  void set_options(const WindowTraceOptions& options);
  /// True if no step completed and only MPI's initialization or finalization was recorded.
  bool empty() const;
  /// Calls `on_progress`, if any, every few thousand events. Returns false if the sink failed.
  bool write(ByteSink& sink, const std::function<void()>& on_progress);
  bool has_stacks() const;
  /// As write(), but writes the stacks like torch.profiler's export_stacks(), with self times in microseconds. Not
  /// kSelfCpu: device time, unless kAuto finds no device activity.
  bool write_stacks(ByteSink& sink, StacksMetric metric);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Estimated JSON size of an open window's events.
struct SampledSize {
  double fixed_bytes = 0;      // of a trace without events
  double bytes_per_event = 0;  // 0 = no event to sample
};
/// Measures the JSON of a few runs, for events since `since`. No chunk may be freed meanwhile.
SampledSize sample_size(const spool::View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries);

}  // namespace profshim::kineto
