#include <algorithm>

#include "profshim/analysis.h"

namespace profshim {
namespace {

TraceRule ranks_rule(const std::string& text, const TracesSeen& seen) {
  TraceRule rule{.key = "check.ranks"};
  if (seen.world_size < 1) {
    rule.sentence = "the traces do not say how many ranks there were";
    return rule;
  }
  RankExpression wanted;
  std::string message;
  int column = 0;
  wanted.parse(text, message, column);
  bool any = false;
  for (int r = 0; r < seen.world_size; ++r) {
    Rank rank;
    rank.rank = r;
    rank.world_size = seen.world_size;
    if (!wanted.selects(rank)) continue;
    any = true;
    if (std::find(seen.ranks.begin(), seen.ranks.end(), r) == seen.ranks.end()) rule.missing.push_back(r);
  }
  if (!any) {
    // Expressions like "local:0" need the local rank, which traces do not contain.
    rule.sentence = "\"" + text + "\" selects none of " + std::to_string(seen.world_size) +
                    " ranks by number: use numbers such as \"0-3\"";
    return rule;
  }
  rule.holds = rule.missing.empty();
  rule.sentence =
      rule.missing.empty() ? "every rank of \"" + text + "\" has a trace" : "no trace of " + ranks_text(rule.missing);
  return rule;
}

}  // namespace

std::string rank_list(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

std::vector<TraceRule> check_traces(const Spec& spec, const TracesSeen& seen) {
  std::vector<TraceRule> rules;
  if (spec.check.min_traces > 0) {
    rules.push_back({.key = "check.min_traces",
                     .holds = seen.files >= static_cast<std::uint64_t>(spec.check.min_traces),
                     .sentence = std::to_string(seen.files) + " traces, at least " +
                                 std::to_string(spec.check.min_traces) + " required"});
  }
  if (!spec.check.ranks.empty()) rules.push_back(ranks_rule(spec.check.ranks, seen));
  if (spec.check.complete) {
    rules.push_back(
        {.key = "check.complete",
         .holds = seen.incomplete_files == 0 && seen.dropped == 0 && seen.lost_windows == 0,
         .sentence = "incomplete traces: " + std::to_string(seen.incomplete_files) +
                     ", lost events: " + std::to_string(seen.dropped) +
                     (seen.lost_windows > 0 ? ", lost windows: " + std::to_string(seen.lost_windows) : "")});
  }
  return rules;
}

}  // namespace profshim
