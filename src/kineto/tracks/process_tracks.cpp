#include "process_tracks.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kineto/args/arg_list.h"
#include "kineto/args/event_args.h"
#include "kineto/overflow_tracks.h"
#include "kineto/track_names.h"
#include "profshim/elf.h"
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

namespace {

// No thread has these tids, nor do overflow tracks of threads.
constexpr std::int64_t kPhaseTid = 3'000'000'000;
// Above the threads.
constexpr std::int64_t kSortIndex = -1000;

std::int64_t tid_of(std::size_t phase, int overflow) {
  return kPhaseTid + static_cast<std::int64_t>(phase) + overflow * kOverflowTidStep;
}

}  // namespace

void PhaseTracks::write(TraceWriter& out) const {
  for (std::size_t i = 0; i < window_.definitions.phases().size(); ++i) write_phase(out, i);
}

void PhaseTracks::write_phase(TraceWriter& out, std::size_t phase) const {
  OverflowTracks tracks;
  for (const PhaseOccurrence& one : window_.phases.occurrences()) {
    if (one.phase != phase) continue;
    TraceEvent e;
    e.begin_ns = window_.clock.unix_ns(one.begin);
    e.duration_ns = window_.clock.unix_ns(one.end) - e.begin_ns;
    const int overflow = tracks.place(e.begin_ns, e.begin_ns + e.duration_ns);
    tracks.name_up_to(overflow, [&](int number) { name_track(out, phase, number); });
    e.tid = tid_of(phase, overflow);
    write_occurrence(out, one, e);
  }
}

void PhaseTracks::name_track(TraceWriter& out, std::size_t phase, int overflow) const {
  std::string name = std::string(schema::track::kPhaseStart) += window_.definitions.phases()[phase].name;
  const TrackId id{window_.view.header().pid, tid_of(phase, overflow)};
  const std::int64_t at_ns = window_.clock.unix_ns(window_.begin);
  kineto::name_track(out, id, at_ns, std::move(name), overflow, kSortIndex + static_cast<std::int64_t>(phase));
}

void PhaseTracks::write_occurrence(TraceWriter& out, const PhaseOccurrence& one, TraceEvent& e) const {
  ArgList<7 + kCounterArgs> args;
  std::string_view range = window_.view.string(one.range);
  std::string readable;
  if (window_.definitions.phases()[one.phase].source == PhaseSource::kKernel) {
    readable = elf::demangled(std::string(range));
    range = readable;
  }
  args.add(schema::arg::kRange, range);
  args.add(schema::arg::kThread, one.tid);
  if (one.began_before) args.add(schema::arg::kStarted, false);
  if (one.ends_later) args.add(schema::arg::kFinished, false);
  if (one.unclosed) args.add(schema::arg::kUnclosed, true);
  if (one.resumed) args.add(schema::arg::kResumed, true);
  if (one.counted != nullptr) {
    for_each_counter(*one.counted, [&args](std::string_view key, const auto& value) { args.add(key, value); });
  }
  e.category = Category::kPhase;
  e.name = window_.definitions.phases()[one.phase].name;
  e.pid = window_.view.header().pid;
  e.args = args.all();
  out.write(e);
}

}  // namespace profshim::kineto
