#include "phase_settings.h"
#include "read_phases.h"
#include "spec/step_list.h"

namespace profshim {

std::string_view to_text(PhaseSource source) { return spec::kPhaseSourceKeys[static_cast<std::size_t>(source)]; }

Schedule schedule_of(const Spec& spec, const PhaseSpec& phase) {
  Schedule schedule = spec.schedule;
  const PhaseSpec::GivenSchedule& given = phase.schedule;
  for (const spec::CycleSetting& setting : spec::kCycleSettings) {
    if (given.*setting.given) schedule.*setting.top = *(given.*setting.given);
  }
  if (spec::gives_cycle(given)) schedule.steps.clear();
  if (!given.steps.empty()) schedule.steps = given.steps;
  if (given.continuous) schedule.continuous = *given.continuous;
  if (schedule.continuous) spec::merge_adjacent(schedule.steps);
  return schedule;
}

namespace spec {

void complete_cycles(std::vector<PhaseSpec>& phases, bool top_gives_skip_first, bool top_gives_warmup) {
  for (PhaseSpec& phase : phases) {
    PhaseSpec::GivenSchedule& given = phase.schedule;
    if (!gives_cycle(given)) continue;
    if (!given.skip_first && !top_gives_skip_first) given.skip_first = 0;
    if (!given.warmup && !top_gives_warmup) given.warmup = 0;
  }
}

}  // namespace spec

Detail detail_of(const Spec& spec, const PhaseSpec& phase) {
  Detail detail = spec;
  for (const auto& setting : spec::kDetailFlags) {
    if (phase.capture.*setting.given) detail.*setting.top = *(phase.capture.*setting.given);
  }
  for (const auto& setting : spec::kDetailNumbers) {
    if (phase.capture.*setting.given) detail.*setting.top = *(phase.capture.*setting.given);
  }
  return detail;
}

bool is_selected(const Spec& spec, const PhaseSpec& phase, const Rank& rank) {
  return (phase.ranks ? *phase.ranks : spec.ranks.select).selects(rank);
}

bool has_phases_of(const Spec& spec, PhaseSource source) {
  for (const PhaseSpec& phase : spec.phases) {
    if (phase.ranges_of.source == source || (phase.ticks && phase.ticks->source == source)) return true;
  }
  return false;
}

bool removes_traces(const Spec& spec) {
  const bool after_finish = spec.output.traces_to_keep == 0 && spec.finish.after_each_window;
  return spec.output.traces_to_keep > 0 || spec.output.keep_bytes > 0 || after_finish;
}

}  // namespace profshim
