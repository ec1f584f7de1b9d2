#include "detail.h"

#include <algorithm>
#include <limits>

#include "profshim/base/threads/uninterrupted.h"
#include "profshim/call_stack.h"
#include "session/state.h"

namespace profshim::session {
namespace {

bool has_stacks(const Detail& detail) { return detail.with_stack || detail.native_stack; }

/// The stacks of both: as often and as deep as either asks for.
void add(Detail& sum, const Detail& more) {
  if (has_stacks(more)) {
    const auto times = [](std::int64_t every) { return every == 0 ? std::numeric_limits<std::int64_t>::max() : every; };
    const bool is_first = !has_stacks(sum);
    if (is_first || times(more.stack_every) < times(sum.stack_every)) sum.stack_every = more.stack_every;
    sum.stack_depth = is_first ? more.stack_depth : std::max(sum.stack_depth, more.stack_depth);
  }
  sum.with_stack |= more.with_stack;
  sum.native_stack |= more.native_stack;
  sum.with_modules |= more.with_modules;
  sum.record_shapes |= more.record_shapes;
  sum.with_flops |= more.with_flops;
}

}  // namespace

std::int64_t bits_of(const Detail& detail) {
  std::int64_t bits = 0;
  if (detail.record_shapes) bits |= spool::kShapes;
  if (detail.with_flops) bits |= spool::kFlops;
  if (detail.with_stack) bits |= spool::kPythonStack;
  if (detail.native_stack) bits |= spool::kNativeStack;
  if (detail.with_modules) bits |= spool::kModules;
  return bits;
}

void prepare_detail(State& s) {
  Detail all = s.spec;
  for (const auto& phase : s.phase_windows) {
    if (phase != nullptr) add(all, phase->detail());
  }
  if (has_stacks(all)) s.can_take_stacks = call_stack::prepare(all);
  update_detail(s);
}

void update_detail(State& s) {
  const Uninterrupted no_handler_of_the_job;
  const std::lock_guard lock(s.detail_mutex);
  Detail now = s.spec;
  for (const auto& phase : s.phase_windows) {
    if (phase != nullptr && phase->wants()) add(now, phase->detail());
  }
  if (s.can_take_stacks && has_stacks(now)) call_stack::choose(now);
  std::uint32_t bits = 0;
  if (s.can_take_stacks && has_stacks(now)) bits |= recorder::kStacks;
  if (now.record_shapes || now.with_flops) bits |= recorder::kTorchInputs;
  recorder::set_mode(bits, (recorder::kStacks | recorder::kTorchInputs) & ~bits);
}

}  // namespace profshim::session
