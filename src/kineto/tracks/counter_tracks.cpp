#include "counter_tracks.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

namespace counter = schema::counter;
namespace unit = schema::unit;

struct Counter {
  std::string_view name, unit;
};

// In the order of SystemCounter.
constexpr std::array<Counter, static_cast<std::size_t>(SystemCounter::kCount)> kCounters = {{
    {counter::kProcessCpu, unit::kPercent},
    {counter::kProcessSystemCpu, unit::kPercent},
    {counter::kProcessThreads, unit::kNumber},
    {counter::kMachineCpu, unit::kPercent},
    {counter::kProcessMemory, unit::kBytes},
    {counter::kProcessMemoryPeak, unit::kBytes},
    {counter::kMachineMemory, unit::kBytes},
    {counter::kCgroupMemory, unit::kBytes},
    {counter::kDiskRead, unit::kBytesPerSecond},
    {counter::kDiskWritten, unit::kBytesPerSecond},
    {counter::kNetReceived, unit::kBytesPerSecond},
    {counter::kNetSent, unit::kBytesPerSecond},
    {counter::kGpuUse, unit::kPercent},
    {counter::kGpuMemory, unit::kBytes},
    {counter::kGpuSmClock, unit::kMegahertz},
    {counter::kGpuMemoryClock, unit::kMegahertz},
    {counter::kGpuPower, unit::kWatts},
}};

constexpr double kMost = 9e15;  // a hundred times this is still an integer

bool is_possible(const SystemArgs& sample) {
  // A damaged spool may hold any bits.
  return sample.counter < SystemCounter::kCount && sample.value >= 0 && sample.value < kMost;
}

std::string name_of(const SystemArgs& sample) {
  const std::string name(kCounters[static_cast<std::size_t>(sample.counter)].name);
  if (sample.counter < SystemCounter::kGpuUse) return name;
  return std::string(counter::kGpuStart) + std::to_string(sample.device) + name;
}

Arg value_of(const SystemArgs& sample) {
  const std::string_view unit = kCounters[static_cast<std::size_t>(sample.counter)].unit;
  if (unit == unit::kPercent || unit == unit::kWatts)
    return {unit, static_cast<double>(static_cast<std::int64_t>(sample.value * 100 + 0.5)) / 100};
  return {unit, static_cast<std::int64_t>(sample.value + 0.5)};
}

}  // namespace

void write_counters(TraceWriter& out, const WindowEvents& window) {
  std::vector<const Event*> samples(window.samples.all().begin(), window.samples.all().end());
  std::stable_sort(samples.begin(), samples.end(), [](const Event* a, const Event* b) { return a->begin < b->begin; });
  for (const Event* const sample : samples) {
    if (!is_possible(sample->system)) continue;
    const std::string name = name_of(sample->system);
    const Arg value = value_of(sample->system);
    TraceEvent e;
    e.phase = schema::phase::kCounter;
    e.name = name;
    e.pid = e.tid = window.view.header().pid;
    e.begin_ns = window.clock.unix_ns(sample->begin);
    e.args = {&value, 1};
    out.write(e);
  }
}

}  // namespace profshim::kineto
