#include <string>
#include <vector>

#include "parts.h"
#include "spec/phase/phase_settings.h"

namespace profshim::spec {
namespace {

using Kind = Accepts::Kind;
constexpr std::int64_t kYear = 31536000;

void write_member(JsonWriter& json, std::string_view name, std::string_view sentence, const Accepts& accepts) {
  json.key(name).open_object().member("description", sentence);
  write_values(json, accepts);
  json.close_object();
}

/// A text that must not be empty.
void write_name(JsonWriter& json, std::string_view name, std::string_view sentence) {
  json.key(name).open_object().member("description", sentence).member("minLength", 1);
  write_values(json, {Kind::kText});
  json.close_object();
}

JsonWriter& open_table(JsonWriter& json) {
  return json.open_object().member("type", "object").member("additionalProperties", false);
}

JsonWriter& open_list_of_tables(JsonWriter& json, std::string_view sentence) {
  json.open_object().member("description", sentence).member("type", "array").key("items");
  return open_table(json);
}

void write_required(JsonWriter& json, std::string_view name) {
  json.open_object().list("required", std::vector{name}).close_object();
}

/// Writes a table of a phase whose members have the rows TABLE.NAME of the top level.
void write_settings(JsonWriter& json, std::string_view table, std::string_view sentence,
                    const std::vector<std::string_view>& names) {
  open_table(json.key(table)).member("description", sentence).key("properties").open_object();
  for (const std::string_view name : names) {
    const KeyRow& row = *find_row(std::string(table) + "." + std::string(name));
    write_member(json, name, row.sentence, row.accepts);
  }
  json.close_object();
  if (table == "schedule") write_list_or_cycle(json);
  json.close_object();
}

void write_ticks(JsonWriter& json) {
  open_table(json.key("steps")).member("description", "what the phase's schedule counts instead of its occurrences");
  json.list("required", std::vector{"pattern"}).key("properties").open_object();
  Accepts sources = {.kind = Kind::kWord};
  for (const std::string_view key : kPhaseSourceKeys) {
    if (key != to_text(PhaseSource::kThread)) sources.words.push_back(key);
  }
  write_member(json, "source", "kind of range that makes a step of the phase", sources);
  write_name(json, "pattern", "name of the range, function or kernel that makes a step of the phase");
  json.close_object().close_object();
}

void write_phase_tables(JsonWriter& json) {
  write_ticks(json);
  std::vector<std::string_view> cycle, detail;
  for (const CycleSetting& setting : kCycleSettings) cycle.push_back(setting.name);
  cycle.insert(cycle.end(), {"steps", "continuous"});
  for (const auto& setting : kDetailFlags) detail.push_back(setting.name);
  for (const auto& setting : kDetailNumbers) detail.push_back(setting.name);
  write_settings(json, "schedule", "windows of the phase; a key that is absent is as at the top level", cycle);
  write_settings(json, "limits", "limits of the phase's windows", {"window_seconds", "total_traces"});
  write_settings(json, "capture", "detail of the events in the phase's windows", detail);
}

void write_phase_sources(JsonWriter& json) {
  constexpr std::array<std::string_view, kPhaseSources> kSentences = {
      "pattern of NVTX ranges",         "pattern of torch.profiler.record_function ranges",
      "name of an exported function",   "name of a Python function, such as Trainer.rollout",
      "pattern of launches of kernels", "name of a thread"};
  for (std::size_t i = 0; i < kPhaseSourceKeys.size(); ++i) write_name(json, kPhaseSourceKeys[i], kSentences[i]);
}

}  // namespace

void write_list_or_cycle(JsonWriter& json) {
  json.key("dependencies").open_object().key("steps").open_object().key("anyOf").open_list();
  json.open_object().key("properties").open_object().key("steps").open_object().member("maxItems", 0);
  json.member("type", "array").close_object().close_object().close_object();
  json.open_object().key("not").open_object().key("anyOf").open_list();
  for (const CycleSetting& setting : kCycleSettings) write_required(json, setting.name);
  json.close_list().close_object().close_object();
  json.close_list().close_object().close_object();
}

void write_phase(JsonWriter& json) {
  open_list_of_tables(json, find_row("phase")->sentence).list("required", std::vector{"name"});
  json.key("properties").open_object();
  json.key("name").open_object().member("description", "name of the phase, also in file names");
  json.member("type", "string").member("minLength", 1).member("maxLength", 100);
  json.member("pattern", R"(^[^/,\x00-\x1f\x7f]*$)").close_object();
  write_phase_sources(json);
  write_member(json, "mode", "mark = events inside have the phase in their arguments; window = traces of its own",
               {.kind = Kind::kWord, .words = {"mark", "window"}});
  write_member(json, "max_seconds", "the phase ends after this time at the latest",
               {.kind = Kind::kPositive, .most = kYear});
  write_member(json, "ranks", "ranks that record the phase; absent = ranks.select", {Kind::kRanks});
  write_phase_tables(json);
  json.close_object().key("oneOf").open_list();
  for (const std::string_view key : kPhaseSourceKeys) write_required(json, key);
  json.close_list().key("dependencies").open_object();
  for (const char* table : {"steps", "schedule", "limits", "capture"}) {
    json.key(table).open_object().list("required", std::vector{"mode"}).key("properties").open_object().key("mode");
    json.open_object().member("const", "window").close_object().close_object().close_object();
  }
  json.close_object().close_object().member("maxItems", std::int64_t{kMostPhases}).close_object();
}

void write_check_rule(JsonWriter& json) {
  open_list_of_tables(json, find_row("check.rule")->sentence).list("required", std::vector{"metric"});
  json.key("properties").open_object();
  Accepts metrics = {.kind = Kind::kWord};
  for (int i = 0; i <= static_cast<int>(CheckMetric::kCommunication); ++i)
    metrics.words.push_back(to_text(static_cast<CheckMetric>(i)));
  write_member(json, "metric", "the quantity per step that the rule bounds", metrics);
  write_name(json, "name", "pattern of the kernels or calls that count; absent = all");
  write_name(json, "phase", "counts only what is inside this phase");
  write_member(json, "min", "the least value", {Kind::kNumber});
  write_member(json, "max", "the largest value", {Kind::kNumber});
  write_name(json, "baseline", "file of `profshim compare --update-baseline`, relative to the spec's folder");
  write_member(json, "tolerance", "share by which the value may exceed the baseline", {Kind::kNumber});
  json.close_object().key("anyOf").open_list();
  for (const char* limit : {"min", "max", "baseline"}) write_required(json, limit);
  json.close_list().key("dependencies").open_object().list("tolerance", std::vector{"baseline"}).close_object();
  json.close_object().close_object();
}

}  // namespace profshim::spec
