#include "combine.h"

#include <algorithm>
#include <cstddef>

#include "profshim/spec.h"
#include "spec_keys.h"
#include "step_list.h"

namespace profshim::spec {
namespace {

Problem problem_of(const Given& given, std::string message, std::string hint) {
  Problem problem;
  problem.file = given.file;
  problem.line = given.value.line;
  problem.column = given.value.column;
  problem.key = given.key;
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

std::vector<StepRange> steps_of(const Given& given) {
  std::vector<StepRange> ranges;
  Refusal refusal;
  read_steps(given.value, ranges, refusal);
  return ranges;
}

bool gives_steps(const Given& given) { return given.key == "schedule.steps" && !steps_of(given).empty(); }

Value rank_sets(const Value& a, const Value& b, CombineMode mode) {
  if (mode == CombineMode::kUnion) return make_text(a.text + ", " + b.text);
  const auto bracketed = [](const std::string& text) {
    return text.find_first_of(", &!") == std::string::npos ? text : "(" + text + ")";
  };
  return make_text(bracketed(a.text) + " & " + bracketed(b.text));
}

Value step_sets(const Given& a, const Given& b, CombineMode mode) {
  std::vector<StepRange> both = steps_of(a);
  const std::vector<StepRange> other = steps_of(b);
  if (mode == CombineMode::kIntersection) return steps_to_value(intersect(both, other));
  both.insert(both.end(), other.begin(), other.end());
  return steps_to_value(both);
}

Value name_sets(const Value& a, const Value& b, CombineMode mode) {
  std::vector<std::string> out;
  const auto has = [](const std::vector<Value>& items, const std::string& text) {
    return std::any_of(items.begin(), items.end(), [&](const Value& item) { return item.text == text; });
  };
  for (const Value& item : a.items) {
    if (mode == CombineMode::kUnion || has(b.items, item.text)) out.push_back(item.text);
  }
  for (const Value& item : b.items) {
    if (mode == CombineMode::kUnion && !has(a.items, item.text)) out.push_back(item.text);
  }
  return make_list(std::move(out));
}

/// Reports an empty intersection as an error: an empty process.match would match all programs.
Given combined(const Given& earlier, const Given& later, Combine kind, CombineMode mode,
               std::vector<Problem>& problems) {
  Given out = later;
  if (kind == Combine::kRankSet) out.value = rank_sets(earlier.value, later.value, mode);
  if (kind == Combine::kStepSet) out.value = step_sets(earlier, later, mode);
  if (kind == Combine::kNameSet) out.value = name_sets(earlier.value, later.value, mode);
  out.value.line = later.value.line;
  out.value.column = later.value.column;
  out.origin = earlier.origin + (mode == CombineMode::kUnion ? " or " : " and ") + later.origin;

  bool nothing = mode == CombineMode::kIntersection && out.value.kind == Value::Kind::kList && out.value.items.empty();
  if (kind == Combine::kRankSet) {
    RankExpression ranks;
    std::string message;
    int column = 0;
    nothing = ranks.parse(out.value.text, message, column) && ranks.selects_nobody();
  }
  // An intersection of exclusions may be empty.
  if (nothing && later.key != "process.exclude") {
    problems.push_back(problem_of(
        later, "has nothing in common with " + earlier.origin,
        "include.combine = \"intersection\" keeps only values that all files contain; change one of these values"));
    return later;
  }
  return out;
}

}  // namespace

void apply(Settings& settings, const std::vector<Given>& later, CombineMode mode, std::vector<Problem>& problems) {
  const auto steps = std::find_if(later.begin(), later.end(), gives_steps);
  const auto cycle = std::find_if(later.begin(), later.end(), [](const Given& g) { return is_cycle_key(g.key); });
  if (steps != later.end() && cycle != later.end()) {
    problems.push_back(problem_of(*steps, "cannot be given together with " + cycle->key,
                                  "a schedule is a list of steps or a cycle; remove one of the two"));
  } else if (steps != later.end()) {
    std::erase_if(settings, [](const auto& entry) { return is_cycle_key(entry.first); });
  } else if (cycle != later.end()) {
    settings.erase("schedule.steps");
  }
  for (const Given& given : later) {
    const KeyRow* const row = find_row(given.key);
    const auto earlier = settings.find(given.key);
    if (earlier == settings.end() || mode == CombineMode::kOverride || row == nullptr ||
        row->combine == Combine::kLastWins) {
      settings.insert_or_assign(given.key, given);
    } else {
      earlier->second = combined(earlier->second, given, row->combine, mode, problems);
    }
  }
}

}  // namespace profshim::spec
