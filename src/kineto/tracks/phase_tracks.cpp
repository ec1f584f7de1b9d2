#include "phase_tracks.h"

#include "kineto/args/arg_list.h"
#include "kineto/args/step_args.h"
#include "kineto/metadata_event.h"
#include "kineto/overflow_tracks.h"
#include "profshim/elf.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
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
  std::string name = "phase " + std::string(window_.definitions.phases()[phase].name);
  if (overflow > 0) name += " overlapping " + std::to_string(overflow);
  const TrackId id{window_.view.header().pid, tid_of(phase, overflow)};
  const std::int64_t at_ns = window_.clock.unix_ns(window_.begin);
  write_metadata(out, schema::metadata::kThreadName, id, at_ns, schema::arg::kName, std::string_view{name});
  write_metadata(out, schema::metadata::kThreadSortIndex, id, at_ns, schema::arg::kSortIndex,
                 kSortIndex + static_cast<std::int64_t>(phase));
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
