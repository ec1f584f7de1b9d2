#pragma once

#include "arg_list.h"
#include "kineto/window_steps.h"
#include "profshim/perf_counters.h"

namespace profshim::kineto {

using StepArgList = ArgList<kPerfCounters + 4>;
void add_step_args(const WindowSteps& steps, std::size_t step, StepArgList& args);

}  // namespace profshim::kineto
