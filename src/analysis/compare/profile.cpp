#include <algorithm>
#include <array>
#include <stdexcept>

#include "analysis/model/machine_load.h"
#include "analysis/model/one_job.h"
#include "analysis/model/statistics.h"
#include "analysis/model/timeline.h"
#include "file_profile.h"
#include "profshim/analysis/compare.h"

namespace profshim {

std::string_view to_text(RowKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"call", "range", "runtime",           "kernel",
                                                      "copy", "phase", "launches in phase", "device time in phase"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

using namespace analysis_detail;

void check_file(const Timeline& t, bool rules) {
  if (t.truncated) {
    throw std::runtime_error(t.path +
                             ": the trace is cut off or damaged, so counts cannot be compared; `profshim recover "
                             "FOLDER` may restore the rest");
  }
  if (t.dropped > 0 && !rules) {
    throw std::runtime_error(t.path + ": " + std::to_string(t.dropped) +
                             " events were lost, so counts cannot be compared; raise limits.host_memory");
  }
}

struct Part {
  std::string path, host, phase;
  std::int64_t pid = -1, begin_ns = 0;
  int world_size = -1;
  bool has_steps = false;
  ProfileRank profile;
};

void check_same_run(const Part& first, const Part& part) {
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(part.path + ": " + why); };
  const auto windows = [](const Part& of) {
    return of.phase.empty() ? std::string("windows of steps") : "windows of the phase " + of.phase;
  };
  if (first.phase != part.phase)
    refuse("is of the " + windows(part) + ", but " + first.path + " of the " + windows(first) + "; name one of these");
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

void join(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more, std::size_t before) {
  to.resize(before);
  to.insert(to.end(), more.begin(), more.end());
}

/// As join(). Unknown elements are -1.
void join_known(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more, std::size_t before,
                std::size_t after) {
  if (to.empty() && more.empty()) return;
  to.resize(before, -1);
  to.insert(to.end(), more.begin(), more.end());
  to.resize(after, -1);
}

/// `before` and `after`: the numbers of steps before and after `part` is appended.
void append(ProfileSums& to, ProfileSums&& part, std::size_t before, std::size_t after) {
  join(to.communication_ns, part.communication_ns, before);
  join(to.launches, part.launches, before);
  join(to.mpi_bytes, part.mpi_bytes, before);
  for (auto& [key, row] : part.rows) {
    ProfileRow& whole = to.rows[key];
    join(whole.count, row.count, before);
    join(whole.time_ns, row.time_ns, before);
    whole.other_threads = whole.other_threads || row.other_threads;
  }
  for (auto* const list : {&to.communication_ns, &to.launches, &to.mpi_bytes}) list->resize(after);
  for (auto& [key, row] : to.rows) {
    row.count.resize(after);
    row.time_ns.resize(after);
  }
}

void append(ProfileRank& rank, ProfileRank&& part, bool is_numbered) {
  const std::size_t before = rank.steps.size();
  for (const auto& [number, nth] : part.steps) {
    const std::int64_t name = is_numbered ? number : static_cast<std::int64_t>(rank.steps.size());
    const auto same = [&](const auto& step) { return step.first == name; };
    rank.steps.emplace_back(name, std::count_if(rank.steps.begin(), rank.steps.end(), same));
  }
  const std::size_t after = rank.steps.size();
  join(rank.step_ns, part.step_ns, before);
  for (const auto list : {&ProfileRank::cpu_ns, &ProfileRank::instructions, &ProfileRank::waiting_ns})
    join_known(rank.*list, part.*list, before, after);
  for (auto& [name, phase] : part.phases) {
    ProfilePhase& whole = rank.phases[name];
    join(whole.occurrences, phase.occurrences, before);
    join(whole.time_ns, phase.time_ns, before);
    append(static_cast<ProfileSums&>(whole), std::move(phase), before, after);
  }
  for (auto& [name, phase] : rank.phases) {
    phase.occurrences.resize(after);
    phase.time_ns.resize(after);
    append(static_cast<ProfileSums&>(phase), {}, after, after);
  }
  append(static_cast<ProfileSums&>(rank), std::move(part), before, after);
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
      const std::int64_t begin_ns = t.slices.empty() ? 0 : t.slices.front().begin_ns;
      Part part{file, t.host, phase_of(t), t.pid, begin_ns, t.world_size, has_steps(t), {}};
      part.profile.rank = t.rank;
      add_file(t, part.profile);
      if (std::optional<WindowLoad> load = window_load(t)) loads.push_back(std::move(*load));
      run.incomplete_files += !t.complete;
      run.dropped += t.dropped;
      if (!t.without_durations.empty()) run.notes.push_back(file + ": " + t.without_durations);
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
    run.phase = part.phase;
    if (run.ranks.empty() || run.ranks.back().rank != part.profile.rank) {
      run.ranks.emplace_back().rank = part.profile.rank;
    }
    append(run.ranks.back(), std::move(part.profile), run.has_steps || !run.phase.empty());
  }
  run.machine = machine_load(loads, run.ranks.size());
  for (ProfileRank& rank : run.ranks) rank.cpus_used = cpus_used(loads, rank.rank);
  return run;
}

}  // namespace profshim
