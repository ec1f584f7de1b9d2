// The search for the steps of a job whose spec does not name them: how far it is, and which events it keeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/event.h"
#include "session/plan.h"

namespace profshim::session {

/// How far the search for unknown steps is.
enum class Search : std::uint8_t {
  kOver,      // the rule makes the steps
  kRunning,   // events are recorded; a known range ends the search
  kPaused,    // nothing is recorded
  kChanging,  // the rule is being replaced; markers wait in the recorded events
  kFound,     // as kRunning; the next marker takes over: see Steps::take_over()
};

struct StepSearch {
  std::atomic<Search> state{Search::kOver};
  std::atomic<Ticks> kept_from{0};    // while events are kept for the search: none since then are lost or freed
  std::atomic<bool> keeps_all{true};  // all events of the recording have been kept

  /// 0 = keeps none.
  void keep_from(const Plan& plan, Ticks since);
  /// Records what only the spec wants, and lets the kept events go. Call when the search is over or paused.
  void stop_keeping(const Plan& plan);
};

/// Mode bits of layers that only the search needs.
std::uint32_t only_searched(const Spec& spec);

}  // namespace profshim::session
