// Call stacks with their self times, for flame graphs.
#pragma once

#include <unordered_map>
#include <vector>

#include "call_stacks.h"
#include "profshim/spool/view.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// Time of the kernels, copies and memsets that an API call launched.
using DeviceTimes = std::unordered_map<const Event*, Ticks>;

class FoldedStacks {
 public:
  /// `device_times`: a stack has the time of the launches in its calls, without those of calls inside that have a
  /// stack. Null: its self time on the CPU.
  FoldedStacks(double ticks_per_ns, const DeviceTimes* device_times)
      : ticks_per_us_(ticks_per_ns * 1000), device_times_(device_times) {}
  /// `events`: sorted by begin, longest first.
  void add_thread(const std::vector<const Event*>& events);
  /// WindowTraceBuilder::write_stacks() documents the format.
  bool write(CallStacks& stacks, ByteSink& sink) const;

 private:
  struct Open {
    Ticks end, own;
    StringId stack;
  };
  void close(std::vector<Open>& open);
  void add_device_time(const Event& call, const std::vector<Open>& open);

  const double ticks_per_us_;
  const DeviceTimes* const device_times_;
  std::unordered_map<StringId, Ticks> own_time_;
};

}  // namespace profshim::kineto
