#pragma once

#include "kineto/window/window_events.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// Writes the samples of [system] as counters of the process.
void write_counters(TraceWriter& out, const WindowEvents& window);

/// Writes a track for each phase that occurs in the window.
class PhaseTracks {
 public:
  explicit PhaseTracks(const WindowEvents& window) : window_(window) {}
  void write(TraceWriter& out) const;

 private:
  void write_phase(TraceWriter& out, std::size_t phase) const;
  void name_track(TraceWriter& out, std::size_t phase, int overflow) const;
  void write_occurrence(TraceWriter& out, const PhaseOccurrence& one, TraceEvent& e) const;

  const WindowEvents& window_;
};

}  // namespace profshim::kineto
