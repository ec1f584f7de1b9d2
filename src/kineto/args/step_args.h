// Arguments of steps, and the counts of counters.perf in steps and phases.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "arg_list.h"
#include "kineto/window_steps.h"
#include "profshim/perf_counters.h"

namespace profshim::kineto {

inline constexpr std::size_t kCounterArgs = kPerfCounters + 1;
/// Calls `add` with the key and value of each argument.
void for_each_counter(const PerfReading& counted,
                      const std::function<void(std::string_view, decltype(Arg::value))>& add);

using StepArgList = ArgList<kCounterArgs + 3>;
void add_step_args(const WindowSteps& steps, std::size_t step, StepArgList& args);

}  // namespace profshim::kineto
