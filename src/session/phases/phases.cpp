#include "phases.h"

#include <algorithm>

#include "detail.h"
#include "profshim/base/glob.h"
#include "profshim/phase_ranges.h"
#include "session/state.h"

namespace profshim::session {
namespace {

PhaseRule rule_of(const PhaseSpec::Ranges& ranges, std::uint64_t bit) {
  return {ranges.source, ranges.pattern, std::string(glob_literal_prefix(ranges.pattern)), bit};
}

void thread_begins(const char* name) {
  const std::uint64_t phases = phases_of(name, PhaseSource::kThread);
  if (phases != 0) phase_ranges::begin_life(phases, recorder::intern(name));
}

void thread_ends(spool::Thread& thread, Ticks at) {
  if (State* const s = live()) s->phase_counters->thread_ends(thread, at);
}

/// Adds the time since `entered` to the time that the job lost.
void note_stall(State& s, Ticks entered) { s.stall_ticks.fetch_add(ticks() - entered, std::memory_order_relaxed); }

}  // namespace

std::vector<PhaseRule> phase_rules(const Spec& spec, const Rank& rank) {
  std::vector<PhaseRule> rules;
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    const PhaseSpec& phase = spec.phases[i];
    if (!is_selected(spec, phase, rank)) continue;
    rules.push_back(rule_of(phase.ranges_of, std::uint64_t{1} << i));
    if (phase.ticks) rules.push_back(rule_of(*phase.ticks, std::uint64_t{1} << (kMostPhases + i)));
  }
  return rules;
}

void define_phases(State& s) {
  s.phase_rules = phase_rules(s.spec, s.rank);
  for (const PhaseRule& rule : s.phase_rules) {
    if (rule.api == PhaseSource::kNvtx || rule.api == PhaseSource::kTorch) allow_marker_prefix(rule.prefix);
  }
  s.kernel_runs = std::make_unique<KernelRuns>(s.phase_rules);
  if (!s.phase_rules.empty() && !s.spec.counters.perf.empty()) {
    s.phase_counters = std::make_unique<PhaseCounters>(s);
    recorder::watch_thread_ends(thread_ends);
  }
  const auto is_of_threads = [](const PhaseRule& rule) { return rule.api == PhaseSource::kThread; };
  if (std::any_of(s.phase_rules.begin(), s.phase_rules.end(), is_of_threads)) recorder::watch_threads(thread_begins);
  const std::int64_t python = s.spec.python_calls ? std::int64_t{spool::kPythonCalls} : 0;
  recorder::define(spool::DefinitionKind::kDetail, 0, 0, 0, {bits_of(s.spec) | python});
  for (std::size_t i = 0; i < s.spec.phases.size(); ++i) {
    const PhaseSpec& phase = s.spec.phases[i];
    if (!is_selected(s.spec, phase, s.rank)) continue;
    recorder::define(
        spool::DefinitionKind::kPhase, static_cast<std::uint32_t>(i + 1), recorder::intern(phase.name),
        recorder::intern(phase.ranges_of.pattern),
        {static_cast<std::int64_t>(phase.ranges_of.source), static_cast<std::int64_t>(phase.max_seconds * 1e9)});
    if (!phase.has_windows) continue;
    recorder::define(spool::DefinitionKind::kDetail, static_cast<std::uint32_t>(i + 1), 0, 0,
                     {bits_of(detail_of(s.spec, phase)) | python});
    s.phase_windows.resize(i + 1);
    s.phase_windows[i] = std::make_unique<PhaseWindows>(s, i);
  }
}

std::uint64_t phases_of(std::string_view text, PhaseSource api) {
  const State* const s = live();
  std::uint64_t phases = 0;
  if (s == nullptr) return phases;
  for (const PhaseRule& rule : s->phase_rules) {
    if (rule.api == api && text.starts_with(rule.prefix) && glob_match(rule.pattern, text)) phases |= rule.bit;
  }
  return phases;
}

std::vector<PhasePattern> phase_patterns(PhaseSource source) {
  std::vector<PhasePattern> patterns;
  if (const State* const s = live()) {
    for (const PhaseRule& rule : s->phase_rules) {
      if (rule.api == source) patterns.push_back({rule.pattern, rule.bit});
    }
  }
  return patterns;
}

void phases_begin(std::uint64_t phases, Ticks at) {
  State* const s = live();
  if (s == nullptr || (s->phase_windows.empty() && s->phase_counters == nullptr)) return;
  const Ticks entered = ticks();
  for (std::size_t i = 0; i < s->phase_windows.size(); ++i) {
    if (s->phase_windows[i] == nullptr) continue;
    if ((phases >> i & 1) != 0) s->phase_windows[i]->range_begins(at);
    if ((phases >> (kMostPhases + i) & 1) != 0) s->phase_windows[i]->tick_begins(at);
  }
  if (s->phase_counters != nullptr) s->phase_counters->begin(phases, at);
  note_stall(*s, entered);
}

void phases_end(std::uint64_t phases, Ticks at) {
  State* const s = live();
  if (s == nullptr || (s->phase_windows.empty() && s->phase_counters == nullptr)) return;
  const Ticks entered = ticks();
  if (s->phase_counters != nullptr) s->phase_counters->end(phases, at);
  for (std::size_t i = s->phase_windows.size(); i-- > 0;) {
    if (s->phase_windows[i] != nullptr && (phases >> i & 1) != 0) s->phase_windows[i]->range_ends(at);
  }
  note_stall(*s, entered);
}

void phases_pause(std::uint64_t phases, Ticks at) {
  State* const s = live();
  if (s != nullptr && s->phase_counters != nullptr) s->phase_counters->end(phases, at);
}

void phases_resume(std::uint64_t phases, Ticks at) {
  State* const s = live();
  if (s != nullptr && s->phase_counters != nullptr) s->phase_counters->begin(phases, at);
}

}  // namespace profshim::session
