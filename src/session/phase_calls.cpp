// The functions of profshim/session.h that hooks call for ranges of phases.
#include <algorithm>

#include "profshim/phase_ranges.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"
#include "recording.h"

namespace profshim::session {
namespace {

void thread_begins(const char* name) {
  const std::uint64_t phases = phases_of(name, PhaseSource::kThread);
  if (phases != 0) phase_ranges::begin_life(phases, recorder::intern(name));
}

void thread_ends(spool::Thread& thread, Ticks at) {
  if (Recording* const r = live()) r->phases.thread_ends(thread, at);
}

}  // namespace

void watch_threads_of_phases(const Recording& r) {
  const auto& rules = r.phases.rules();
  if (!rules.empty() && !r.plan.spec.counters.perf.empty()) recorder::watch_thread_ends(thread_ends);
  const auto is_of_threads = [](const PhaseRule& rule) { return rule.api == PhaseSource::kThread; };
  if (std::any_of(rules.begin(), rules.end(), is_of_threads)) recorder::watch_threads(thread_begins);
}

std::uint64_t phases_of(std::string_view text, PhaseSource api) {
  const Recording* const r = live();
  return r != nullptr ? r->phases.phases_of(text, api) : 0;
}

std::vector<PhasePattern> phase_patterns(PhaseSource source) {
  std::vector<PhasePattern> patterns;
  if (const Recording* const r = live()) {
    for (const PhaseRule& rule : r->phases.rules()) {
      if (rule.api == source) patterns.push_back({rule.pattern, rule.bit});
    }
  }
  return patterns;
}

void phases_begin(std::uint64_t phases, Ticks at) {
  if (Recording* const r = live()) r->phases.begin(phases, at);
}

void phases_end(std::uint64_t phases, Ticks at) {
  if (Recording* const r = live()) r->phases.end(phases, at);
}

void phases_pause(std::uint64_t phases, Ticks at) {
  if (Recording* const r = live()) r->phases.pause(phases, at);
}

void phases_resume(std::uint64_t phases, Ticks at) {
  if (Recording* const r = live()) r->phases.resume(phases, at);
}

}  // namespace profshim::session
