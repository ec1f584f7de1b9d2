// All ranks of a job have the same steps: those that one rank found first.
#pragma once

#include <memory>
#include <string>

#include "profshim/loop.h"
#include "step_rule.h"

namespace profshim::session {

/// For the file in the run folder. The first line is the confidence.
std::string shared_text(const StepRule& rule);

/// Returns the steps that another rank has found, if this rank makes them, too: it calls the same collective or
/// optimizer. Null = it does not.
std::unique_ptr<const StepRule> shared_rule(const std::string& text, const loop::Sequence& sequence);

/// True if the rank makes a call again and again that all ranks make.
bool recurs_on_all_ranks(const loop::Sequence& sequence);

}  // namespace profshim::session
