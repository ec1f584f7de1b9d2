#pragma once

#include <span>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// The samples of [system] in a window.
class SystemSamples {
 public:
  /// Requires a run with tid kSystemTid.
  void add_run(const spool::Run& run, Ticks begin, Ticks until) {
    for (const Event& e : std::span(run.events, run.count)) {
      if (e.hook == HookId::kSystemSample && e.begin >= begin && e.begin < until) events_.push_back(&e);
    }
  }
  std::span<const Event* const> all() const { return events_; }

 private:
  std::vector<const Event*> events_;
};

}  // namespace profshim::kineto
