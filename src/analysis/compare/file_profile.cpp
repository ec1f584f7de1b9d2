#include "file_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/model/activity_names.h"
#include "analysis/model/event_args.h"
#include "analysis/model/statistics.h"
#include "analysis/model/time/intervals.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

std::optional<RowKind> row_kind(Kind kind) {
  switch (kind) {
    case Kind::kCpuOp:
      return RowKind::kCall;
    case Kind::kUserAnnotation:
      return RowKind::kRange;
    case Kind::kRuntime:
    case Kind::kDriver:
      return RowKind::kRuntime;
    case Kind::kKernel:
      return RowKind::kKernel;
    case Kind::kMemcpy:
    case Kind::kMemset:
      return RowKind::kCopy;
    default:
      return std::nullopt;  // device ranges and waits: their host events count
  }
}

/// False for torch.distributed's calls: the MPI, gloo or NCCL operations inside them count.
bool is_communication(RowKind kind, std::string_view name) {
  if (kind == RowKind::kKernel) return is_collective_kernel(name);
  if (kind == RowKind::kCall && name.starts_with(schema::name::kMpiStart)) return true;
  return (kind == RowKind::kCall || kind == RowKind::kRange) && name.starts_with(schema::name::kGlooStart);
}

struct Span {
  std::int64_t begin_ns, end_ns, number;
  std::int64_t cpu_ns = -1, instructions = -1;
};

/// In such a call, a thread may poll.
bool may_wait(const Slice& slice, std::string_view name) {
  const std::optional<RowKind> kind = row_kind(slice.kind);
  if (!kind || slice.asynchronous) return false;
  return *kind == RowKind::kRuntime || (*kind == RowKind::kCall && slice.communication != kNone) ||
         (is_host(slice.kind) && is_communication(*kind, name));
}

class FileProfile {
 public:
  FileProfile(const Timeline& timeline, ProfileRank& rank)
      : rank_(rank), all_{rank, {}}, has_steps_(has_steps(timeline)), timeline_(&timeline) {
    find_steps();
    find_calls();
    for (const Slice& slice : timeline.slices) add(slice);
  }

 private:
  void find_steps() {
    const Timeline& t = *timeline_;
    if (has_steps_) {
      step_track_ = t.steps.front().track;
      for (const Step& step : t.steps) {
        if (step.track != step_track_) continue;
        spans_.push_back({step.begin_ns, step.begin_ns + step.duration_ns, step.number, step.cpu_ns,
                          static_cast<std::int64_t>(step.counted[PerfCounter::kInstructions])});
      }
      if (!t.complete && spans_.size() > 1) spans_.pop_back();
    } else {
      const std::int64_t number = phase_of(t).empty() ? 0 : t.recording->occurrence;
      Span all{.number = number};
      if (!t.slices.empty()) all.begin_ns = all.end_ns = t.slices.front().begin_ns;
      for (const Slice& s : t.slices) {
        all.begin_ns = std::min(all.begin_ns, s.begin_ns);
        all.end_ns = std::max(all.end_ns, s.end_ns() + 1);
      }
      spans_.push_back(all);
    }
    for (const Span& span : spans_) {
      rank_.steps.emplace_back(span.number, 0);
      rank_.step_ns.push_back(difference(span.end_ns, span.begin_ns));
    }
    resize(rank_);
    add_work();
  }

  /// Adds CPU times and instructions, and what may be polling in them.
  void add_work() {
    const auto knows = [this](std::int64_t Span::*member) {
      return std::any_of(spans_.begin(), spans_.end(), [=](const Span& span) { return span.*member >= 0; });
    };
    if (!knows(&Span::cpu_ns)) return;
    std::vector<Interval> waits;
    for (const Slice& s : timeline_->slices) {
      if (s.track == step_track_ && may_wait(s, timeline_->name_of(s))) waits.push_back({s.begin_ns, s.end_ns()});
    }
    waits = merged(std::move(waits));
    const bool has_instructions = knows(&Span::instructions);
    for (const Span& span : spans_) {
      rank_.cpu_ns.push_back(span.cpu_ns);
      rank_.waiting_ns.push_back(static_cast<std::int64_t>(covered(clipped(waits, span.begin_ns, span.end_ns))));
      if (has_instructions) rank_.instructions.push_back(span.instructions);
    }
  }

  void resize(ProfileSums& sums) const {
    for (auto* const list : {&sums.communication_ns, &sums.launches, &sums.mpi_bytes}) list->resize(spans_.size());
  }

  void find_calls() {
    for (const Slice& s : timeline_->slices) {
      if ((s.kind == Kind::kRuntime || s.kind == Kind::kDriver) && s.correlation != 0)
        calls_.emplace(s.correlation, &s);
    }
  }

  std::size_t step_at(std::int64_t at_ns) const {
    const auto after = std::upper_bound(spans_.begin(), spans_.end(), at_ns,
                                        [](std::int64_t t, const Span& span) { return t < span.begin_ns; });
    if (after == spans_.begin() || at_ns >= (after - 1)->end_ns) return kNone;
    return static_cast<std::size_t>(after - spans_.begin() - 1);
  }

  void add(const Slice& slice) {
    const std::string_view name = timeline_->name_of(slice);
    if (slice.kind == Kind::kPhase) return add_occurrence(slice, name);
    const auto kind = row_kind(slice.kind);
    // An asynchronous slice is left out: the call that started it counts.
    if (!kind || slice.asynchronous || name.starts_with(schema::name::kStepStart)) return;
    const Slice* made_by = &slice;
    if (is_device_work(slice.kind)) {
      const auto call = calls_.find(slice.correlation);
      if (call != calls_.end()) {
        made_by = call->second;
      } else if (slice.correlation != 0 && !calls_.empty()) {
        return;  // launched before the window
      }
    }
    const std::size_t step = step_at(made_by->begin_ns);
    if (step == kNone) return;
    const Event event{.slice = slice,
                      .name = name,
                      .kind = *kind,
                      .step = step,
                      .on_other_thread = has_steps_ && made_by->track != step_track_,
                      .launches = is_new_launch(slice, *kind, name, step)};
    add(event, all_);
    for (Sums* const phase : phases_around(slice)) add(event, *phase);
  }

  struct Event {
    const Slice& slice;
    std::string_view name;
    RowKind kind{};
    std::size_t step = 0;
    bool on_other_thread = false, launches = false;
  };
  struct Sums {
    ProfileSums& sums;
    std::vector<ProfileRow*> rows;  // by name and kind
  };

  // cudaLaunchKernel and the cuLaunchKernel inside it are one launch.
  bool is_new_launch(const Slice& slice, RowKind kind, std::string_view name, std::size_t step) {
    return kind == RowKind::kRuntime && is_launch(name) &&
           (slice.correlation == 0 || launches_.emplace(slice.correlation, step).second);
  }

  void add(const Event& event, Sums& to) {
    const std::size_t step = event.step;
    const std::int64_t duration_ns = event.slice.duration_ns;
    ProfileSums& sums = to.sums;
    ProfileRow& row = row_of(event, to);
    ++row.count[step];
    row.time_ns[step] = bounded_sum(row.time_ns[step], duration_ns);
    row.other_threads = row.other_threads || event.on_other_thread;
    if (is_communication(event.kind, event.name))
      sums.communication_ns[step] = bounded_sum(sums.communication_ns[step], duration_ns);
    if (event.kind == RowKind::kCall && event.name.starts_with(schema::name::kMpiStart) &&
        event.slice.communication != kNone) {
      const std::int64_t bytes = timeline_->communications[event.slice.communication].bytes;
      sums.mpi_bytes[step] = bounded_sum(sums.mpi_bytes[step], std::max<std::int64_t>(bytes, 0));
    }
    if (event.launches) ++sums.launches[step];
  }

  ProfileRow& row_of(const Event& event, Sums& to) const {
    constexpr std::size_t kKinds = 5;
    to.rows.resize(timeline_->texts.size() * kKinds);
    ProfileRow*& row = to.rows[event.slice.name * kKinds + static_cast<std::size_t>(event.kind)];
    if (row == nullptr) {
      row = &to.sums.rows[{event.kind, std::string(event.name)}];
      row->count.resize(spans_.size());
      row->time_ns.resize(spans_.size());
    }
    return *row;
  }

  void add_occurrence(const Slice& slice, std::string_view name) {
    const std::size_t step = step_at(slice.begin_ns);
    if (step == kNone) return;
    ProfilePhase& phase = phase_named(name);
    if (!slice.resumed) ++phase.occurrences[step];
    phase.time_ns[step] = bounded_sum(phase.time_ns[step], slice.duration_ns);
  }

  ProfilePhase& phase_named(std::string_view name) {
    const auto [at, is_new] = rank_.phases.try_emplace(std::string(name));
    if (is_new) {
      resize(at->second);
      at->second.occurrences.resize(spans_.size());
      at->second.time_ns.resize(spans_.size());
    }
    return at->second;
  }

  const std::vector<Sums*>& phases_around(const Slice& slice) {
    static const std::vector<Sums*> kOutside;
    if (slice.phases == 0) return kOutside;
    const auto [at, is_new] = around_.try_emplace(slice.phases);
    if (!is_new) return at->second;
    std::vector<Sums*>& phases = at->second;
    for_each_phase(timeline_->texts[slice.phases], [&](std::string_view name) {
      phases.push_back(&phases_.try_emplace(std::string(name), Sums{phase_named(name), {}}).first->second);
    });
    return phases;
  }

  ProfileRank& rank_;
  Sums all_;
  std::map<std::string, Sums> phases_;
  std::unordered_map<TextId, std::vector<Sums*>> around_;  // by Slice::phases
  const bool has_steps_;
  const Timeline* const timeline_;
  std::vector<Span> spans_;
  std::uint32_t step_track_ = kNone;
  std::unordered_map<std::int64_t, const Slice*> calls_;
  std::unordered_map<std::int64_t, std::size_t> launches_;
};

}  // namespace

std::string phase_of(const Timeline& timeline) { return timeline.recording ? timeline.recording->phase : ""; }

bool has_steps(const Timeline& timeline) { return !timeline.steps.empty() && phase_of(timeline).empty(); }

void add_file(const Timeline& timeline, ProfileRank& rank) { const FileProfile added(timeline, rank); }

std::map<RowKey, ProfileRow> phase_rows(const ProfileRank& rank) {
  std::map<RowKey, ProfileRow> rows;
  for (const auto& [name, phase] : rank.phases) {
    const std::vector<std::int64_t> none(rank.steps.size());
    // Such events, and their phase, may cross the boundary of a step.
    const bool others =
        std::any_of(phase.rows.begin(), phase.rows.end(), [](const auto& row) { return row.second.other_threads; });
    rows[{RowKind::kPhase, name}] = {phase.occurrences, phase.time_ns, others};
    rows[{RowKind::kPhaseLaunches, name}] = {phase.launches, none, others};
    ProfileRow& device = rows[{RowKind::kPhaseDevice, name}] = {none, none, others};
    for (const auto& [key, row] : phase.rows) {
      if (key.first != RowKind::kKernel && key.first != RowKind::kCopy) continue;
      for (std::size_t i = 0; i < none.size(); ++i) device.time_ns[i] = bounded_sum(device.time_ns[i], row.time_ns[i]);
    }
  }
  return rows;
}

}  // namespace profshim::analysis_detail
