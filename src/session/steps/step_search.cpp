#include "step_search.h"

#include "profshim/recorder_control.h"
#include "session/mode_bits.h"

namespace profshim::session {

std::uint32_t only_searched(const Spec& spec) {
  return (recorder::kMpi | recorder::kNccl | recorder::kNvtx | recorder::kTorch) & ~mode_bits(spec);
}

void StepSearch::keep_from(const Plan& plan, Ticks since) {
  kept_from.store(since);
  recorder::keep_for_search(plan.records_steps ? since : 0);
}

void StepSearch::stop_keeping(const Plan& plan) {
  recorder::set_mode(0, only_searched(plan.spec));
  recorder::header().searched_until.store(ticks());
  keep_from(plan, 0);
}

}  // namespace profshim::session
