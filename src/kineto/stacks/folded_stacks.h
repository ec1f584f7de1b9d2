// Call stacks with their self times, for flame graphs.
#pragma once

#include <unordered_map>
#include <vector>

#include "call_stacks.h"
#include "profshim/spool/view.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

class FoldedStacks {
 public:
  explicit FoldedStacks(double ticks_per_ns) : ticks_per_us_(ticks_per_ns * 1000) {}
  /// `events`: sorted by begin, longest first.
  void add_thread(const std::vector<const Event*>& events);
  /// WindowTraceBuilder::write_stacks() documents the format.
  bool write(CallStacks& stacks, ByteSink& sink) const;

 private:
  const double ticks_per_us_;
  std::unordered_map<StringId, Ticks> own_time_;
};

}  // namespace profshim::kineto
