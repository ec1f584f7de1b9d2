#include <algorithm>

#include "profshim/event.h"
#include "profshim/loop.h"

namespace profshim::loop {

const char* text_of(Confidence confidence) {
  return confidence == Confidence::kHigh ? "high" : confidence == Confidence::kMedium ? "medium" : "low";
}

std::string_view source_of(const Symbol& symbol) {
  switch (symbol.kind) {
    case CallKind::kOptimizer:
    case CallKind::kForward:
    case CallKind::kTorchRange:
      return "torch";
    case CallKind::kNvtxRange:
      return "nvtx";
    case CallKind::kCollective:
    case CallKind::kMessage:
      return "collective";
    case CallKind::kLaunch:
      return "kernel";
    case CallKind::kOperator:
      return symbol.nested == 0 ? "torch" : "";  // the source counts calls inside other calls, too
    case CallKind::kOther:
      return hook_by_name(symbol.name) != HookId::kNone ? "collective" : "";
  }
  return "";
}

std::string pattern_of(const Symbol& symbol) {
  std::string pattern = symbol.name;
  std::replace(pattern.begin(), pattern.end(), '[', '?');  // "[" begins a set of characters
  return pattern;
}

}  // namespace profshim::loop
