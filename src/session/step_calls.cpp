// The functions of profshim/session.h that hooks call for markers of steps.
#include "profshim/base/glob.h"
#include "profshim/session.h"
#include "recording.h"

namespace profshim::session {

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
