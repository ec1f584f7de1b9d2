#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include "analysis/model/machine_load.h"
#include "analysis/model/one_job.h"
#include "analysis/model/statistics.h"
#include "analysis/model/timeline.h"
#include "profshim/analysis/compare.h"
#include "trace/schema.h"

namespace profshim {

std::string_view to_text(RowKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"call", "range", "runtime", "kernel", "copy"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

using namespace analysis_detail;

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

bool is_launch(std::string_view name) {
  for (const std::string_view start : {"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "hipLaunch",
                                       "hipModuleLaunch", "hipExtLaunch", "hipGraphLaunch", "hipExtModuleLaunch"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

/// False for torch.distributed's calls: the MPI, gloo or NCCL operations inside them count.
bool is_communication(RowKind kind, std::string_view name) {
  if (kind == RowKind::kKernel) return name.starts_with(schema::name::kNcclStart);
  if (kind == RowKind::kCall && name.starts_with(schema::name::kMpiStart)) return true;
  return (kind == RowKind::kCall || kind == RowKind::kRange) && name.starts_with(schema::name::kGlooStart);
}

struct Span {
  std::int64_t begin_ns, end_ns, number;
};

class FileProfile {
 public:
  FileProfile(const Timeline& timeline, ProfileRank& rank)
      : rank_(rank), has_steps_(!timeline.steps.empty()), timeline_(&timeline) {
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
        if (step.track == step_track_) spans_.push_back({step.begin_ns, step.begin_ns + step.duration_ns, step.number});
      }
      if (!t.complete && spans_.size() > 1) spans_.pop_back();
    } else {
      Span all{t.slices.front().begin_ns, t.slices.front().end_ns(), 0};
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
    for (auto* const list : {&rank_.communication_ns, &rank_.launches, &rank_.mpi_bytes}) list->resize(spans_.size());
    rows_.assign(t.texts.size() * 5, nullptr);
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
    const auto kind = row_kind(slice.kind);
    const std::string_view name = timeline_->name_of(slice);
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
    ProfileRow& row = row_of(*kind, slice.name, name);
    ++row.count[step];
    row.time_ns[step] = bounded_sum(row.time_ns[step], slice.duration_ns);
    row.other_threads = row.other_threads || (has_steps_ && made_by->track != step_track_);
    if (is_communication(*kind, name))
      rank_.communication_ns[step] = bounded_sum(rank_.communication_ns[step], slice.duration_ns);
    if (*kind == RowKind::kCall && name.starts_with(schema::name::kMpiStart) && slice.communication != kNone) {
      const std::int64_t bytes = timeline_->communications[slice.communication].bytes;
      rank_.mpi_bytes[step] = bounded_sum(rank_.mpi_bytes[step], std::max<std::int64_t>(bytes, 0));
    }
    // cudaLaunchKernel and the cuLaunchKernel inside it are one launch.
    if (*kind == RowKind::kRuntime && is_launch(name) &&
        (slice.correlation == 0 || launches_.emplace(slice.correlation, step).second)) {
      ++rank_.launches[step];
    }
  }

  ProfileRow& row_of(RowKind kind, TextId id, std::string_view name) {
    ProfileRow*& row = rows_[id * 5 + static_cast<std::size_t>(kind)];
    if (row == nullptr) {
      row = &rank_.rows[{kind, std::string(name)}];
      row->count.resize(spans_.size());
      row->time_ns.resize(spans_.size());
    }
    return *row;
  }

  ProfileRank& rank_;
  const bool has_steps_;
  const Timeline* const timeline_;
  std::vector<Span> spans_;
  std::uint32_t step_track_ = kNone;
  std::unordered_map<std::int64_t, const Slice*> calls_;
  std::unordered_map<std::int64_t, std::size_t> launches_;
  std::vector<ProfileRow*> rows_;
};

void check_file(const Timeline& t, bool rules) {
  if (t.truncated) {
    throw std::runtime_error(
        t.path +
        ": the trace is cut off, so counts cannot be compared; `profshim recover FOLDER` may restore the rest");
  }
  if (t.dropped > 0 && !rules) {
    throw std::runtime_error(t.path + ": " + std::to_string(t.dropped) +
                             " events were lost, so counts cannot be compared; raise limits.host_memory");
  }
}

struct Part {
  std::string path, host;
  std::int64_t pid = -1, begin_ns = 0;
  int world_size = -1;
  bool has_steps = false;
  ProfileRank profile;
};

void check_same_run(const Part& first, const Part& part) {
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(part.path + ": " + why); };
  if (first.has_steps != part.has_steps) {
    refuse(part.has_steps ? "has steps, but " + first.path + " has none; name the traces of one run"
                          : "has no steps, but " + first.path + " has; name the traces of one run");
  }
}
void check_same_process(const Part& first, const Part& part) {
  const bool other_pid = first.pid >= 0 && part.pid >= 0 && first.pid != part.pid;
  if (!other_pid && first.host == part.host) return;
  throw std::runtime_error(part.path + ": belongs to another run than " + first.path + ": both are rank " +
                           std::to_string(part.profile.rank) +
                           ", but of different processes; name the traces of one run");
}

void append(ProfileRank& rank, ProfileRank&& part, bool has_steps) {
  const std::size_t before = rank.steps.size();
  for (const auto& [number, nth] : part.steps) {
    const std::int64_t name = has_steps ? number : static_cast<std::int64_t>(rank.steps.size());
    const auto same = [&](const auto& step) { return step.first == name; };
    rank.steps.emplace_back(name, std::count_if(rank.steps.begin(), rank.steps.end(), same));
  }
  const auto join = [](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  join(rank.step_ns, part.step_ns);
  join(rank.communication_ns, part.communication_ns);
  join(rank.launches, part.launches);
  join(rank.mpi_bytes, part.mpi_bytes);
  for (auto& [key, row] : part.rows) {
    ProfileRow& whole = rank.rows[key];
    whole.count.resize(before);
    whole.time_ns.resize(before);
    join(whole.count, row.count);
    join(whole.time_ns, row.time_ns);
    whole.other_threads = whole.other_threads || row.other_threads;
  }
  for (auto& [key, row] : rank.rows) {
    row.count.resize(rank.steps.size());
    row.time_ns.resize(rank.steps.size());
  }
}

}  // namespace

RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules) {
  RunProfile run;
  run.path = path;
  std::vector<Part> parts;
  std::vector<WindowLoad> loads;
  analysis_detail::OneJob job;
  for (const std::string& file : files) {
    for (const Timeline& t : load_timelines(file)) {
      check_file(t, rules);
      job.add(t);
      Part part{file, t.host, t.pid, t.slices.front().begin_ns, t.world_size, !t.steps.empty(), {}};
      part.profile.rank = t.rank;
      const FileProfile filled(t, part.profile);
      if (std::optional<WindowLoad> load = window_load(t)) loads.push_back(std::move(*load));
      run.incomplete_files += !t.complete;
      run.dropped += t.dropped;
      for (const Part& earlier : parts) {
        check_same_run(earlier, part);
        if (earlier.profile.rank == t.rank) check_same_process(earlier, part);
      }
      parts.push_back(std::move(part));
    }
  }
  run.files = parts.size();
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(a.profile.rank, a.begin_ns) < std::pair(b.profile.rank, b.begin_ns);
  });
  for (Part& part : parts) {
    run.world_size = part.world_size;
    run.has_steps = part.has_steps;
    if (run.ranks.empty() || run.ranks.back().rank != part.profile.rank) {
      run.ranks.emplace_back().rank = part.profile.rank;
    }
    append(run.ranks.back(), std::move(part.profile), run.has_steps);
  }
  run.machine = machine_load(loads, run.ranks.size());
  for (ProfileRank& rank : run.ranks) rank.cpus_used = cpus_used(loads, rank.rank);
  return run;
}

}  // namespace profshim
