#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kineto/continuations.h"
#include "kineto/correlation/nccl_operations.h"
#include "kineto/correlation/nccl_tasks.h"
#include "kineto/correlation/torch_collectives.h"
#include "kineto/correlation/torch_links.h"
#include "kineto/definitions.h"
#include "kineto/device/device_activity.h"
#include "kineto/device/device_annotations.h"
#include "kineto/open_calls.h"
#include "kineto/phase_marks.h"
#include "kineto/python_calls.h"
#include "kineto/system_samples.h"
#include "kineto/window_steps.h"
#include "profshim/trace/completeness.h"
#include "profshim/window_trace.h"

namespace profshim::kineto {

struct ThreadEvents {
  std::string name;
  std::vector<const Event*> events;
};

/// If a tid is unknown, kRawThreads plus CUPTI's thread number replaces it.
inline constexpr std::int64_t kRawThreads = std::int64_t{1} << 32;

inline std::int64_t thread_key(const ApiArgs& api) {
  return api.tid > 0 ? std::int64_t{api.tid} : kRawThreads + std::int64_t{api.raw_thread};
}

/// Throws GivenUp if the caller of the builder wants no trace any more.
void give_up_if_wanted(const WindowTraceOptions& options);

class WindowEvents {
 public:
  WindowEvents(const spool::View& view, std::uint64_t window, const WindowTraceOptions& options);

  /// Returns the end of the window or, if later, the end of the last activity or call.
  Ticks last_end() const;
  /// The losses of this window: counts of the process while it was open, and problems that mean a loss.
  WindowLosses losses() const;
  /// Returns a sentence about missing or uncertain Python calls; "" = none.
  std::string python_problem() const;
  std::uint64_t first_torch_id() const { return operations.count() + annotations.ranges() + 1; }

  /// True for the events of a killed process whose steps were not found: see SpoolHeader::search.
  bool is_of_search() const { return &window == &view.header().search; }

  const spool::View& view;
  const spool::Window& window;
  Ticks begin, end = 0;
  spool::WindowEnd ended_by = spool::WindowEnd::kNone;
  std::string limit;
  Definitions definitions;
  std::int64_t detail = 0;  // spool::DetailBits
  ClockMap clock;
  WindowSteps steps;
  std::map<std::int64_t, ThreadEvents> threads;  // key: tid, or kRawThreads + n
  Continuations continuations;
  DeviceActivity device;
  NcclOperations operations;
  NcclTasks nccl_tasks;
  DeviceAnnotations annotations;
  TorchLinks torch_links;
  TorchCollectives collectives;
  PhaseMarks phases;
  PythonCalls python_calls;
  SystemSamples samples;
  Ticks memory_until = ~Ticks{0};  // kTorchMemory from then on is left out (limits.memory_entries)
  std::uint64_t memory_left_out = 0;
  bool only_life_cycle = true;  // has only steps and calls such as MPI_Init
  WindowSummary summary;        // writing the trace sets `events`

 private:
  void read_steps();
  void gather(const WindowTraceOptions& options);
  /// True for a step of the job's own torch.profiler, because readers need each step once, and for an event of a layer
  /// that the spec leaves out: it was recorded to find the steps.
  bool is_unwanted(const Event& event) const;
  void gather_run(const spool::Run& run, Ticks until);
  WindowSpan span_until(Ticks until) const;
  void gather_api_calls(const WindowSpan& span);
  void gather_device_activity(const WindowSpan& span);
  void add_unfinished(OpenCalls& open);
  void note_backward_threads();
  void add_python_calls();
  void add_open_phases(Ticks until);
  void note_kind(HookId hook);
  Ticks latest_moment() const;
  void order_threads(const WindowTraceOptions& options);
  void count_calls();
  void limit_memory(std::uint64_t entries);
  void join_events();
  void count_dropped();
  std::uint64_t dropped_so_far() const;

  std::deque<Event> copies_;  // of events that may change or are unfinished
};

}  // namespace profshim::kineto
