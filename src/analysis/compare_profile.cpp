// From the traces of a run to counts and times of each step.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include "profshim/compare.h"
#include "timeline.h"

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
      return std::nullopt;  // overhead is ours; a stream's ranges and waits repeat what the host did
  }
}

bool is_launch(std::string_view name) {
  for (const std::string_view start : {"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "hipLaunch",
                                       "hipModuleLaunch", "hipExtLaunch", "hipGraphLaunch", "hipExtModuleLaunch"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

/// The time of a step that goes into communication: MPI's calls, NCCL's kernels. What torch.distributed calls around
/// them would count twice; gloo has nothing beneath.
bool is_communication(RowKind kind, std::string_view name) {
  if (kind == RowKind::kKernel) return name.starts_with("nccl");
  if (kind == RowKind::kCall && name.starts_with("MPI_")) return true;
  return (kind == RowKind::kCall || kind == RowKind::kRange) && name.starts_with("gloo:");
}

/// One file's steps, as times: all of it where it has none.
struct Span {
  std::int64_t begin_ns, end_ns, number;
};

class RankProfile {
 public:
  RankProfile(ProfileRank& rank, bool has_steps) : rank_(rank), has_steps_(has_steps) {}

  void add(const Timeline& timeline) {
    timeline_ = &timeline;
    find_steps();
    find_calls();
    for (const Slice& slice : timeline.slices) add(slice);
  }

 private:
  void find_steps() {
    spans_.clear();
    step_track_ = kNone;
    const Timeline& t = *timeline_;
    if (has_steps_) {
      step_track_ = t.steps.front().track;
      for (const Step& step : t.steps) {
        if (step.track == step_track_) spans_.push_back({step.begin_ns, step.begin_ns + step.duration_ns, step.number});
      }
      // The end of the job cut the last one short.
      if (!t.complete && spans_.size() > 1) spans_.pop_back();
    } else {
      Span all{t.slices.front().begin_ns, t.slices.front().end_ns(), static_cast<std::int64_t>(rank_.steps.size())};
      for (const Slice& s : t.slices) {
        all.begin_ns = std::min(all.begin_ns, s.begin_ns);
        all.end_ns = std::max(all.end_ns, s.end_ns() + 1);
      }
      spans_.push_back(all);
    }
    first_ = rank_.steps.size();
    for (const Span& span : spans_) {
      std::int64_t earlier = 0;
      for (const auto& [number, nth] : rank_.steps) earlier += number == span.number;
      rank_.steps.emplace_back(span.number, earlier);
      rank_.step_ns.push_back(span.end_ns - span.begin_ns);
    }
    for (auto* const list : {&rank_.communication_ns, &rank_.launches, &rank_.mpi_bytes}) {
      list->resize(rank_.steps.size());
    }
    for (auto& [key, row] : rank_.rows) fit(row);
    rows_.assign(t.texts.size() * 5, nullptr);
  }

  void fit(ProfileRow& row) const {
    row.count.resize(rank_.steps.size());
    row.time_ns.resize(rank_.steps.size());
  }

  void find_calls() {
    calls_.clear();
    launches_.clear();
    for (const Slice& s : timeline_->slices) {
      if ((s.kind == Kind::kRuntime || s.kind == Kind::kDriver) && s.correlation != 0)
        calls_.emplace(s.correlation, &s);
    }
  }

  /// kNone = in no step.
  std::size_t step_at(std::int64_t at_ns) const {
    const auto after = std::upper_bound(spans_.begin(), spans_.end(), at_ns,
                                        [](std::int64_t t, const Span& span) { return t < span.begin_ns; });
    if (after == spans_.begin() || at_ns >= (after - 1)->end_ns) return kNone;
    return first_ + static_cast<std::size_t>(after - spans_.begin() - 1);
  }

  void add(const Slice& slice) {
    const auto kind = row_kind(slice.kind);
    const std::string_view name = timeline_->name_of(slice);
    // An asynchronous pair says what its call says, once more.
    if (!kind || slice.asynchronous || name.starts_with("ProfilerStep#")) return;
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
    row.time_ns[step] += slice.duration_ns;
    row.other_threads = row.other_threads || (has_steps_ && made_by->track != step_track_);
    if (is_communication(*kind, name)) rank_.communication_ns[step] += slice.duration_ns;
    if (*kind == RowKind::kCall && name.starts_with("MPI_") && slice.communication != kNone) {
      rank_.mpi_bytes[step] += std::max<std::int64_t>(timeline_->communications[slice.communication].bytes, 0);
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
      fit(*row);
    }
    return *row;
  }

  ProfileRank& rank_;
  const bool has_steps_;
  const Timeline* timeline_ = nullptr;
  std::vector<Span> spans_;
  std::size_t first_ = 0;  // of this file's steps among the rank's
  std::uint32_t step_track_ = kNone;
  std::unordered_map<std::int64_t, const Slice*> calls_;
  std::unordered_map<std::int64_t, std::size_t> launches_;
  std::vector<ProfileRow*> rows_;  // by name and kind
};

void check_file(const Timeline& t, bool rules) {
  if (t.truncated) {
    throw std::runtime_error(t.path + ": cut off: what is missing cannot be compared; `profshim recover` may have it");
  }
  if (t.dropped > 0 && !rules) {
    throw std::runtime_error(t.path + ": " + std::to_string(t.dropped) +
                             " events were lost, so counts cannot be compared; raise limits.host_memory");
  }
}

/// Each process has one rank, and all are of a world of one size.
void check_same_run(const Timeline& first_of_rank, const Timeline& first, const Timeline& t) {
  if (first.world_size != t.world_size) {
    throw std::runtime_error(t.path + ": of a job of " + std::to_string(t.world_size) + " ranks, but " + first.path +
                             " of one of " + std::to_string(first.world_size) + "; name the traces of one run");
  }
  const bool other_pid = first_of_rank.pid >= 0 && t.pid >= 0 && first_of_rank.pid != t.pid;
  if (other_pid || first_of_rank.host != t.host) {
    throw std::runtime_error(t.path + ": another run than " + first_of_rank.path + ": both are rank " +
                             std::to_string(t.rank) + ", of different processes; name the traces of one run");
  }
}

}  // namespace

RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules) {
  RunProfile run;
  run.path = path;
  run.files = files.size();
  std::map<int, std::vector<Timeline>> by_rank;
  const Timeline* first = nullptr;
  for (const std::string& file : files) {
    Timeline t = load_timeline(file);
    check_file(t, rules);
    std::vector<Timeline>& of_rank = by_rank[t.rank];
    if (first != nullptr) check_same_run(of_rank.empty() ? t : of_rank.front(), *first, t);
    if (first != nullptr && run.has_steps == t.steps.empty()) {
      throw std::runtime_error(file + (t.steps.empty() ? ": has no steps, but " : ": has steps, but ") + first->path +
                               (t.steps.empty() ? " has some" : " has none"));
    }
    run.has_steps = !t.steps.empty();
    run.world_size = t.world_size;
    run.incomplete_files += !t.complete;
    run.dropped += t.dropped;
    of_rank.reserve(files.size());  // what `first` points at stays where it is
    of_rank.push_back(std::move(t));
    if (first == nullptr) first = &of_rank.front();
  }
  for (auto& [number, timelines] : by_rank) {
    std::sort(timelines.begin(), timelines.end(), [](const Timeline& a, const Timeline& b) {
      return a.slices.front().begin_ns < b.slices.front().begin_ns;
    });
    ProfileRank& rank = run.ranks.emplace_back();
    rank.rank = number;
    RankProfile profile(rank, run.has_steps);
    for (const Timeline& t : timelines) profile.add(t);
  }
  return run;
}

}  // namespace profshim
