// The functions of profshim/session.h that hooks call for markers of steps and ranges of phases.
#include <algorithm>

#include "profshim/base/glob.h"
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

void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker) {
  if (Recording* const r = live()) r->steps.boundary(at, number, marker);
}

void step_marker_ended(Ticks at) {
  if (Recording* const r = live()) r->steps.marker_ended(at);
}

void epoch_boundary(std::string_view text) {
  if (Recording* const r = live()) r->steps.epoch_boundary(text);
}

bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number) {
  const Recording* const r = live();
  if (r == nullptr) return false;
  const StepRule& rule = r->steps.rule();
  const StepPattern* const pattern = matched_pattern(rule, text, MarkerKind::kNvtx);
  if (pattern == nullptr || !r->steps.may_make_steps(rule)) return false;
  number = number_of(rule, *pattern, text);
  return true;
}

void torch_range_begins(const char* name, Ticks at) {
  Recording* const r = live();
  if (r == nullptr) return;
  if (is_epoch_marker(name)) epoch_boundary(name);
  const StepRule& rule = r->steps.rule();
  const StepPattern* const pattern = matched_pattern(rule, name, MarkerKind::kTorch);
  if (pattern == nullptr || !r->steps.may_make_steps(rule) || rule.at_end) return;
  r->steps.boundary(at, number_of(rule, *pattern, name), recorder::intern(name));
}

void torch_range_ended(const char* name, Ticks at) {
  Recording* const r = live();
  if (r == nullptr) return;
  const StepRule& rule = r->steps.rule();
  const StepPattern* const pattern = matched_pattern(rule, name, MarkerKind::kTorch);
  if (pattern == nullptr) return;
  if (!rule.at_end) return r->steps.marker_ended(at);
  r->steps.boundary(at, number_of(rule, *pattern, name), recorder::intern(name));
}

bool is_epoch_marker(std::string_view text) {
  const Recording* const r = live();
  return r != nullptr && !r->plan.spec.steps.epoch.empty() && glob_match(r->plan.spec.steps.epoch, text);
}

void operator_begins(const char* name, Ticks at) {
  Recording* const r = live();
  if (r == nullptr || !glob_match(r->steps.rule().pattern, name)) return;
  r->steps.boundary(at, std::nullopt, recorder::intern(name));
}

bool is_step_hook(HookId hook) {
  const Recording* const r = live();
  return r != nullptr && r->steps.rule().hooks[static_cast<std::size_t>(hook)];
}

bool steps_end_with_marker() {
  const Recording* const r = live();
  return r != nullptr && r->steps.rule().at_end;
}

void on_profiler_range(bool begins, Ticks at) {
  if (Recording* const r = live()) r->steps.profiler_range(begins, at);
}

void on_kernel_launch(const char* name, Ticks at) {
  Recording* const r = live();
  if (r == nullptr) return;
  r->phases.kernel_launched(name, at);
  r->steps.kernel_launched(name, at);
}

void on_graph_launch() {
  Recording* const r = live();
  if (r == nullptr) return;
  r->phases.kernel_launched(nullptr, ticks());
  r->steps.graph_launched();
}

}  // namespace profshim::session
