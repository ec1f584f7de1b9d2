#include "detail_switch.h"

#include <algorithm>
#include <limits>

#include "profshim/call_stack.h"
#include "profshim/recorder_control.h"
#include "profshim/spool/format.h"

namespace profshim::session {
namespace {

bool has_stacks(const Detail& detail) { return detail.with_stack || detail.native_stack; }

}  // namespace

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

std::int64_t bits_of(const Detail& detail) {
  std::int64_t bits = 0;
  if (detail.record_shapes) bits |= spool::kShapes;
  if (detail.with_flops) bits |= spool::kFlops;
  if (detail.with_stack) bits |= spool::kPythonStack;
  if (detail.native_stack) bits |= spool::kNativeStack;
  if (detail.with_modules) bits |= spool::kModules;
  return bits;
}

void DetailSwitch::prepare(const Detail& all) {
  if (has_stacks(all)) can_take_stacks_ = call_stack::prepare(all);
}

void DetailSwitch::choose(const Detail& now) const {
  const bool takes_stacks = can_take_stacks_ && has_stacks(now);
  if (takes_stacks) call_stack::choose(now);
  std::uint32_t bits = 0;
  if (takes_stacks) bits |= recorder::kStacks;
  if (now.record_shapes || now.with_flops) bits |= recorder::kTorchInputs;
  recorder::set_mode(bits, (recorder::kStacks | recorder::kTorchInputs) & ~bits);
}

}  // namespace profshim::session
