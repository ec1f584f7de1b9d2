#include "step_args.h"

#include "profshim/trace/schema.h"

namespace profshim::kineto {

// The processor has fewer counters than its users ask for, and lets them take turns: a value is then an estimate from
// the share of the time in which it was counted.
void for_each_counter(const PerfReading& counted,
                      const std::function<void(std::string_view, decltype(Arg::value))>& add) {
  const auto enabled = static_cast<double>(counted.enabled_ns), ran = static_cast<double>(counted.ran_ns);
  const bool is_shared = counted.ran_ns < counted.enabled_ns;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (!counted.knows(n)) continue;
    const PerfCounterName& name = kPerfCounterNames[n];
    const bool is_estimate = is_shared && is_of_hardware(static_cast<PerfCounter>(n));
    if (is_estimate && counted.ran_ns == 0) continue;
    const auto value = static_cast<double>(counted.values[n]);
    if (name.is_time) {
      add(name.arg, value / 1000);
    } else {
      add(name.arg, is_estimate ? static_cast<std::uint64_t>(value * enabled / ran) : counted.values[n]);
    }
  }
  if (is_shared) add(schema::arg::kCountedPercent, 100 * ran / enabled);
}

void add_step_args(const WindowSteps& steps, std::size_t step, StepArgList& args) {
  args.add(schema::arg::kStepIndex, steps.marks()[step].index);
  if (const std::optional<std::int64_t> cpu_ns = steps.cpu_ns(step))
    args.add(schema::arg::kStepCpuUs, static_cast<double>(*cpu_ns) / 1000);
  for_each_counter(steps.counted(step), [&args](std::string_view key, const auto& value) { args.add(key, value); });
  if (!steps.is_complete(step)) args.add(schema::arg::kFinished, false);
}

}  // namespace profshim::kineto
