#include <algorithm>
#include <array>

#include "profshim/base/text/number_text.h"
#include "profshim/spec/table_orders.h"
#include "row_types.h"
#include "rows.h"
#include "spec/check/checks.h"
#include "spec/phase/read_phases.h"
#include "spec/step_list.h"

namespace profshim::spec {

KeyRow version_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::int64_t version = 0;
    if (!read_integer(value, version, refusal)) return false;
    if (version == 1) return true;
    refusal = {"version " + std::to_string(version) + " is not known", "this profshim reads version = 1", 0, 0};
    return false;
  };
  return {"version",
          "whole number",
          "1",
          "",
          "version of the spec's own format; required in every file",
          store,
          {},
          "1",
          {},
          {Accepts::Kind::kInteger, 1, 1}};
}

KeyRow phases_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    return read_phases(value, spec.phases, refusal);
  };
  auto print = [](const Spec& spec) { return phases_to_toml(spec.phases); };
  return {
      "phase",
      "list of tables",
      "tables of name, one of nvtx, torch, symbol, python, kernel and thread, mode, max_seconds, ranks, steps, "
      "schedule, "
      "limits, capture",
      "",
      "named parts of the job ([[phase]]), such as ranges or functions: they mark events, or have traces of their own",
      store,
      print,
      {},
      {},
      {Accepts::Kind::kTables}};
}

KeyRow include_files_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::vector<std::string> files;
    return read_texts(value, files, refusal);
  };
  return {"include.files",
          "list of paths",
          "any",
          "",
          "specs that this one builds on; paths are relative to this file",
          store,
          {},
          "[]",
          {},
          {Accepts::Kind::kTexts}};
}

KeyRow include_combine_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::string word;
    if (!read_text(value, word, refusal)) return false;
    const std::vector<std::string_view> words = {"override", "union", "intersection"};
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    refusal = {"unknown value " + quoted(word), choice_hint(word, words, {}), 0, 0};
    return false;
  };
  return {"include.combine",
          "word",
          "override, union, intersection",
          "",
          "how ranks and lists of several files combine; for other keys the later file wins",
          store,
          {},
          "\"override\"",
          {},
          {.kind = Accepts::Kind::kWord, .words = {"override", "union", "intersection"}}};
}

KeyRow ranks_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    if (!read_text(value, text, refusal)) return false;
    int column = 0;
    if (spec.ranks.select.parse(text, refusal.message, column)) return true;
    if (value.column > 0) refusal.column = value.column + column;
    refusal.line = value.line;
    // A message with a semicolon already contains a hint.
    if (refusal.message.find(';') == std::string::npos)
      refusal.hint = "write it like \"0,8-15\", \"all\" or \"local:0\"";
    return false;
  };
  auto print = [](const Spec& spec) { return toml_string(spec.ranks.select.text()); };
  return {"ranks.select",
          "rank expression",
          "0,8-15 | all | last | every:8 | local:0 | node:0-1 | host:gpu* | role:actor | a & b | !a | (a)",
          "PROFSHIM_RANKS, --ranks",
          "which ranks record; \",\" is or, \"&\" is and, \"!\" is not",
          store,
          print,
          {},
          Combine::kRankSet,
          {Accepts::Kind::kRanks}};
}

KeyRow steps_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    return read_steps(value, spec.schedule.steps, refusal);
  };
  auto print = [](const Spec& spec) { return steps_to_toml(spec.schedule.steps); };
  return {"schedule.steps",
          "list of steps",
          "[1, 2, \"5-7\"]",
          "PROFSHIM_STEPS, --steps",
          "record these steps instead of a cycle; ranges include both ends",
          store,
          print,
          {},
          Combine::kStepSet,
          {Accepts::Kind::kSteps}};
}

namespace {

bool store_export(const Value& value, Spec& spec, Refusal& refusal) {
  constexpr const char* kAllowed = "allowed: chrome_trace, stacks, key_averages, memory_timeline";
  constexpr std::string_view kTrace = "chrome_trace", kStacks = "stacks", kTable = "key_averages",
                             kMemory = "memory_timeline";
  std::vector<std::string> names;
  if (!read_texts(value, names, refusal)) return false;
  const std::vector<std::string_view> words = {kTrace, kStacks, kTable, kMemory};
  for (const std::string& name : names) {
    if (std::find(words.begin(), words.end(), name) != words.end()) continue;
    refusal.message = "unknown export " + quoted(name);
    refusal.hint = choice_hint(
        name, words,
        {{"trace", kAllowed}, {"json", kAllowed}, {"flamegraph", kAllowed}, {"table", kAllowed}, {"memory", kAllowed}});
    return false;
  }
  if (std::find(names.begin(), names.end(), kTrace) == names.end()) {
    refusal = {"\"chrome_trace\" is missing: the trace is always written", "write [\"chrome_trace\", \"stacks\"]", 0,
               0};
    return false;
  }
  spec.output.stacks = std::find(names.begin(), names.end(), kStacks) != names.end();
  spec.output.key_averages = std::find(names.begin(), names.end(), kTable) != names.end();
  spec.output.memory_timeline = std::find(names.begin(), names.end(), kMemory) != names.end();
  return true;
}

std::vector<std::string_view> table_orders() { return {std::begin(kTableOrders), std::end(kTableOrders)}; }

constexpr std::string_view kAnyOrder = "auto";  // of a table

/// PROFSHIM_TABLE=1 is "auto".
bool store_summary_table(const Value& value, Spec& spec, Refusal& refusal) {
  std::vector<std::string> names;
  if (!read_texts(value, names, refusal)) return false;
  if (value.loose && names.size() == 1 && boolean_word(names[0]) >= 0) {
    spec.summary.table.assign(static_cast<std::size_t>(boolean_word(names[0])), std::string(kAnyOrder));
    return true;
  }
  std::vector<std::string_view> words = table_orders();
  words.push_back(kAnyOrder);
  for (const std::string& name : names) {
    if (std::find(words.begin(), words.end(), name) != words.end()) continue;
    refusal.message = "a table cannot be sorted by " + quoted(name);
    refusal.hint = choice_hint(name, words, {});
    return false;
  }
  spec.summary.table = std::move(names);
  return true;
}

}  // namespace

KeyRow export_row() {
  auto print = [](const Spec& spec) {
    std::vector<std::string> names = {"chrome_trace"};
    if (spec.output.stacks) names.emplace_back("stacks");
    if (spec.output.key_averages) names.emplace_back("key_averages");
    if (spec.output.memory_timeline) names.emplace_back("memory_timeline");
    return texts_to_toml(names);
  };
  return {"output.export",
          "list of words",
          "chrome_trace, stacks, key_averages, memory_timeline",
          "",
          "files of a window: chrome_trace = the trace; stacks = its stacks for flame graphs, weighted by "
          "output.stacks_metric in microseconds; key_averages = PyTorch's table of that name, as text and as CSV; "
          "memory_timeline = a page about memory over time, its peaks and what was alive there (needs "
          "capture.profile_memory)",
          store_export,
          print,
          {},
          Combine::kNameSet,
          {.kind = Accepts::Kind::kWords,
           .words = {"chrome_trace", "stacks", "key_averages", "memory_timeline"},
           .needed_word = "chrome_trace"}};
}

KeyRow summary_table_row() {
  Accepts accepts = {.kind = Accepts::Kind::kWords, .words = table_orders(), .or_none = true};
  accepts.words.push_back(kAnyOrder);
  std::string values;
  for (const std::string_view word : accepts.words) values.append(values.empty() ? "" : ", ").append(word);
  auto print = [](const Spec& spec) { return texts_to_toml(spec.summary.table); };
  return {
      "summary.table",
      "list of words",
      std::move(values),
      "PROFSHIM_TABLE",
      "the first rank that records prints PyTorch's key_averages() table of its last window when the job ends, once "
      "for each of these columns to sort by; auto = self time on devices if there is any, or else on the CPU",
      store_summary_table,
      print,
      {},
      Combine::kNameSet,
      std::move(accepts)};
}

namespace {

struct SecondsRange {
  bool (*reaches_least)(double);
  double most;
  std::string_view values, allowed;
};

KeyRow seconds_row(std::string key, const SecondsRange& range, double& (*member)(Spec&), std::string_view sentence,
                   Accepts accepts) {
  auto store = [range, member](const Value& value, Spec& spec, Refusal& refusal) {
    double seconds = 0;
    if (!read_number(value, seconds, refusal)) return false;
    const bool is_small = !range.reaches_least(seconds);
    if (!is_small && seconds <= range.most) {
      member(spec) = seconds;
      return true;
    }
    refusal = {exact_text(seconds) + (is_small ? " is too small" : " is too large"),
               "allowed: " + std::string(range.allowed), 0, 0};
    return false;
  };
  auto print = [member](const Spec& spec) { return exact_text(member(const_cast<Spec&>(spec))); };
  return {std::move(key), "number", std::string(range.values), "", sentence, store, print, {}, {}, std::move(accepts)};
}

}  // namespace

KeyRow window_seconds_row() {
  const SecondsRange range{[](double seconds) { return seconds > 0; }, 31536000, "more than 0, up to 31536000",
                           "more than 0, up to a year (31536000)"};
  return seconds_row("limits.window_seconds", range, [](Spec& s) -> double& { return s.limits.window_seconds; },
                     "maximum length of a window in seconds", {.kind = Accepts::Kind::kPositive, .most = 31536000});
}

KeyRow interval_seconds_row() {
  const SecondsRange range{[](double seconds) { return seconds >= 0.01; }, 3600, "0.01 to 3600", "0.01 to 3600"};
  return seconds_row("system.interval_seconds", range, [](Spec& s) -> double& { return s.system.interval_seconds; },
                     "time between two samples of [system]; the first samples of a window come sooner",
                     {.kind = Accepts::Kind::kPositive, .most = 3600});
}

KeyRow check_rule_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    return read_check_rules(value, spec.check.rules, refusal);
  };
  auto print = [](const Spec& spec) { return check_rules_to_toml(spec.check.rules); };
  return {"check.rule",
          "list of tables",
          "tables of metric, name, phase, min, max, baseline, tolerance",
          "",
          "rules for `profshim compare --spec`: launches_per_step, kernels_per_step, calls_per_step, "
          "mpi_bytes_per_step, step_us, kernel_us, call_us, communication_us",
          store,
          print,
          {},
          {},
          {Accepts::Kind::kTables}};
}

}  // namespace profshim::spec
