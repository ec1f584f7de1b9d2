// Phases in traces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "e2e/support/seen_trace.h"

namespace profshim::e2e {

/// Counts calls by phase: "session, actor > weight_sync".
inline std::map<std::string, int> by_phase(const SeenTrace& trace, const std::string& name) {
  std::map<std::string, int> counts;
  for (const SeenEvent* event : trace.calls(name)) {
    const auto inner = event->args.find("phase"), outer = event->args.find("outer phases");
    ++counts[(outer == event->args.end() ? "" : outer->second + " > ") +
             (inner == event->args.end() ? "-" : inner->second)];
  }
  return counts;
}

inline std::vector<const SeenEvent*> occurrences(const SeenTrace& trace, const std::string& phase) {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& event : trace.events) {
    if (event.category == "phase" && event.name == phase) found.push_back(&event);
  }
  return found;
}

/// Counts occurrences by range: "Trainer.rollout". Those with "unclosed" or "resumed" have it behind the range.
inline std::map<std::string, int> by_range(const SeenTrace& trace, const std::string& phase) {
  std::map<std::string, int> counts;
  for (const SeenEvent* one : occurrences(trace, phase)) {
    std::string range = one->args.at("range");
    for (const char* mark : {"unclosed", "resumed"}) range += one->args.count(mark) != 0 ? std::string(" ") + mark : "";
    ++counts[range];
  }
  return counts;
}

}  // namespace profshim::e2e
