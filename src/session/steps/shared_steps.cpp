#include "shared_steps.h"

#include <algorithm>
#include <vector>

#include "profshim/base/text/number_text.h"

namespace profshim::session {
namespace {

constexpr std::ptrdiff_t kLeastSteps = 2;

std::int64_t number_after(const std::string& text, const char* word, std::int64_t otherwise) {
  const std::size_t at = text.find(word);
  const std::size_t begin = at + std::char_traits<char>::length(word);
  return at == std::string::npos ? otherwise : leading_number<std::int64_t>(std::string_view(text).substr(begin));
}

loop::Confidence confidence_of(const std::string& text) {
  for (const loop::Confidence one : {loop::Confidence::kHigh, loop::Confidence::kMedium}) {
    if (text.starts_with(loop::text_of(one))) return one;
  }
  return loop::Confidence::kLow;
}

}  // namespace

std::string shared_text(const StepRule& rule) { return std::string(rule.confidence) + "\n" + rule.settings() + "\n"; }

std::unique_ptr<const StepRule> shared_rule(const std::string& text, const loop::Sequence& sequence) {
  loop::Boundary boundary;
  boundary.every = static_cast<std::uint32_t>(std::max<std::int64_t>(1, number_after(text, " steps.every=", 1)));
  boundary.at_end = text.find(" steps.edge=end") != std::string::npos;
  for (const loop::Symbol& symbol : sequence.symbols) {
    if (!is_made_by_all(symbol.kind) || symbol.nested > 0) continue;
    std::unique_ptr<const StepRule> rule(rule_of(symbol, boundary, confidence_of(text)));
    if (rule == nullptr || shared_text(*rule) != text) continue;
    const auto calls = std::count_if(sequence.calls.begin(), sequence.calls.end(), [&](const loop::Call& call) {
      return sequence.symbols[call.symbol].kind == symbol.kind && sequence.symbols[call.symbol].name == symbol.name;
    });
    if (calls >= kLeastSteps * static_cast<std::ptrdiff_t>(boundary.every)) return rule;
  }
  return nullptr;
}

bool recurs_on_all_ranks(const loop::Sequence& sequence) {
  std::vector<std::ptrdiff_t> calls(sequence.symbols.size());
  for (const loop::Call& call : sequence.calls) ++calls[call.symbol];
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] >= kLeastSteps && is_made_by_all(sequence.symbols[i].kind)) return true;
  }
  return false;
}

}  // namespace profshim::session
