#include <algorithm>

#include "profshim/event.h"
#include "profshim/loop.h"
#include "profshim/trace/schema.h"

namespace profshim::loop {
namespace {

/// Replaces each number by "*", so that "iteration 12" and "iteration 13" are one symbol.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      text += c;
    } else if (!text.ends_with('*')) {
      text += '*';
    }
  }
  return text;
}

}  // namespace

CallKind kind_of_torch_range(std::string_view name) {
  if (name.starts_with(schema::name::kOptimizerStepStart)) return CallKind::kOptimizer;
  return name.ends_with(".forward") ? CallKind::kForward : CallKind::kTorchRange;
}

bool is_poll(std::string_view function) {
  for (const std::string_view start : {"MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"}) {
    if (function.starts_with(start)) return true;
  }
  return false;
}

std::uint32_t SequenceBuilder::symbol_of(CallKind kind, std::string_view name, std::int64_t peer) {
  auto& ids = ids_[{kind, peer}];
  if (const auto known = ids.find(name); known != ids.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(sequence_.symbols.size());
  sequence_.symbols.push_back({kind, std::string(name), peer});
  ids.emplace(name, id);
  return id;
}

void SequenceBuilder::add(CallKind kind, std::string_view name, std::int64_t peer, std::int64_t begin_ns,
                          std::int64_t end_ns) {
  if (is_range(kind)) {
    sequence_.calls.push_back({symbol_of(kind, without_numbers(name), peer), begin_ns, end_ns});
    return;
  }
  std::vector<Call>& calls = sequence_.calls;
  const auto is_before = [begin_ns](const Call& call) { return call.end_ns <= begin_ns && call.begin_ns < begin_ns; };
  auto inner = calls.end();
  while (inner != calls.begin() && !is_before(*(inner - 1))) --inner;
  calls.erase(std::remove_if(inner, calls.end(),
                             [&](const Call& call) {
                               Symbol& symbol = sequence_.symbols[call.symbol];
                               if (call.begin_ns < begin_ns || is_range(symbol.kind)) return false;
                               ++symbol.nested;
                               return true;
                             }),
              calls.end());
  calls.push_back({symbol_of(kind, name, peer), begin_ns, end_ns});
}

Sequence SequenceBuilder::finish() {
  std::stable_sort(sequence_.calls.begin(), sequence_.calls.end(), [](const Call& a, const Call& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return std::move(sequence_);
}

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
