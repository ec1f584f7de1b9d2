#pragma once

#include <random>
#include <string>
#include <vector>

#include "profshim/analysis/compare.h"

namespace profshim::test {

inline constexpr std::size_t kSteps = 20;

inline ProfileRow& row(ProfileRank& rank, RowKind kind, const std::string& name) {
  ProfileRow& made = rank.rows[{kind, name}];
  made.count.resize(rank.steps.size());
  made.time_ns.resize(rank.steps.size());
  return made;
}

inline RunProfile noisy_run(std::mt19937& random, double sigma, double slower = 1, std::size_t steps = kSteps) {
  std::lognormal_distribution<double> noise(0, sigma);
  RunProfile run;
  run.path = "run";
  run.world_size = 2;
  run.has_steps = true;
  for (int r = 0; r < 2; ++r) {
    ProfileRank& rank = run.ranks.emplace_back();
    rank.rank = r;
    for (std::size_t i = 0; i < steps; ++i) {
      rank.steps.emplace_back(static_cast<std::int64_t>(10 + i), 0);
      rank.step_ns.push_back(static_cast<std::int64_t>(1e7 * slower * noise(random)));
      rank.communication_ns.push_back(static_cast<std::int64_t>(2e6 * noise(random)));
    }
    rank.launches.assign(steps, 1);
    rank.mpi_bytes.assign(steps, 8);
    ProfileRow& call = row(rank, RowKind::kCall, "MPI_Allreduce");
    ProfileRow& kernel = row(rank, RowKind::kKernel, "gemm<128, 64>");
    for (std::size_t i = 0; i < steps; ++i) {
      call.count[i] = kernel.count[i] = 1;
      call.time_ns[i] = static_cast<std::int64_t>(2e6 * noise(random));
      kernel.time_ns[i] = static_cast<std::int64_t>(6e6 * slower * noise(random));
    }
  }
  return run;
}

/// Adds a phase in which each rank launches one kernel per step.
inline ProfilePhase& phase(ProfileRank& rank, const std::string& name, std::int64_t time_ns) {
  ProfilePhase& made = rank.phases[name];
  const std::size_t steps = rank.steps.size();
  made.occurrences.assign(steps, 1);
  made.time_ns.assign(steps, time_ns);
  made.launches.assign(steps, 1);
  made.communication_ns.resize(steps);
  made.mpi_bytes.resize(steps);
  ProfileRow& kernel = made.rows[{RowKind::kKernel, "gemm<128, 64>"}];
  kernel.count.assign(steps, 1);
  kernel.time_ns.assign(steps, time_ns / 2);
  return made;
}

inline std::vector<const Change*> failures(const Comparison& comparison) {
  std::vector<const Change*> list;
  for (const Change& c : comparison.changes) {
    if (c.verdict == Change::Verdict::kRegression) list.push_back(&c);
  }
  return list;
}

}  // namespace profshim::test
