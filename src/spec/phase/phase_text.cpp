
#include "phase_settings.h"
#include "profshim/base/text/number_text.h"
#include "read_phases.h"
#include "spec/step_list.h"

namespace profshim::spec {
namespace {

/// An inline table.
class Table {
 public:
  void add(std::string_view key, const std::string& value) {
    text_ += text_.empty() ? "{ " : ", ";
    text_ += std::string(key) + " = " + value;
  }
  void add_table(std::string_view key, const Table& table) {
    if (!table.text_.empty()) add(key, table.text());
  }
  std::string text() const { return text_ + " }"; }

 private:
  std::string text_;
};

Table schedule_table(const PhaseSpec::GivenSchedule& schedule) {
  Table table;
  for (const CycleSetting& setting : kCycleSettings) {
    if (const auto& given = schedule.*setting.given) table.add(setting.name, std::to_string(*given));
  }
  if (!schedule.steps.empty()) table.add("steps", steps_to_toml(schedule.steps));
  if (schedule.continuous) table.add("continuous", *schedule.continuous ? "true" : "false");
  return table;
}

Table capture_table(const PhaseSpec::GivenDetail& capture) {
  Table table;
  for (const auto& setting : kDetailFlags) {
    if (const auto& given = capture.*setting.given) table.add(setting.name, *given ? "true" : "false");
  }
  for (const auto& setting : kDetailNumbers) {
    if (const auto& given = capture.*setting.given) table.add(setting.name, std::to_string(*given));
  }
  return table;
}

Table phase_table(const PhaseSpec& phase) {
  Table table;
  table.add("name", toml_string(phase.name));
  table.add(to_text(phase.ranges_of.source), toml_string(phase.ranges_of.pattern));
  table.add("mode", phase.has_windows ? "\"window\"" : "\"mark\"");
  if (phase.max_seconds > 0) table.add("max_seconds", exact_text(phase.max_seconds));
  if (phase.ranks) table.add("ranks", toml_string(phase.ranks->text()));
  if (phase.ticks) {
    Table ticks;
    ticks.add("source", toml_string(to_text(phase.ticks->source)));
    ticks.add("pattern", toml_string(phase.ticks->pattern));
    table.add_table("steps", ticks);
  }
  table.add_table("schedule", schedule_table(phase.schedule));
  Table limits;
  if (phase.limits.window_seconds) limits.add("window_seconds", exact_text(*phase.limits.window_seconds));
  if (phase.limits.total_traces) limits.add("total_traces", std::to_string(*phase.limits.total_traces));
  table.add_table("limits", limits);
  table.add_table("capture", capture_table(phase.capture));
  return table;
}

}  // namespace

std::string phases_to_toml(const std::vector<PhaseSpec>& phases) {
  std::string out = "[";
  for (const PhaseSpec& phase : phases) out += (out.size() > 1 ? ", " : "") + phase_table(phase).text();
  return out + "]";
}

}  // namespace profshim::spec
