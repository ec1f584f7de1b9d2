#include "compare_times.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "compare_statistics.h"
#include "profshim/analysis.h"
#include "statistics.h"

namespace profshim::analysis_detail {
namespace {

std::string ranks_of(const RunProfile& run) {
  std::vector<int> ranks;
  for (const ProfileRank& rank : run.ranks) ranks.push_back(rank.rank);
  return ranks_text(ranks);
}

std::string size_of(const RunProfile& run) {
  return run.world_size < 0 ? "an unknown number of" : std::to_string(run.world_size);
}

TimeTest test_one(const std::vector<double>& shorter, const std::vector<double>& longer, double tolerance,
                  double floor_us) {
  TimeTest test;
  test.steps = std::min(shorter.size(), longer.size());
  const double from = median(shorter), to = median(longer);
  test.large = to - from > std::max(tolerance * from, floor_us);
  test.lasting = in_every_third(shorter, longer);
  test.p = longer_p(shorter, longer);
  test.least_p = least_p(shorter.size(), longer.size());
  return test;
}

TimeTest test_all(const std::vector<TimeSamples>& runs, double tolerance, double floor_us, bool is_longer) {
  TimeTest nearest{.p = 0, .least_p = 0, .large = true, .lasting = true, .steps = ~std::size_t{0}};
  double distance = -1;
  for (const TimeSamples& run : runs) {
    const TimeTest one = is_longer ? test_one(run.base_us, run.run_us, tolerance, floor_us)
                                   : test_one(run.run_us, run.base_us, tolerance, floor_us);
    nearest.p = std::max(nearest.p, one.p);
    nearest.least_p = std::max(nearest.least_p, one.least_p);
    nearest.large = nearest.large && one.large;
    nearest.lasting = nearest.lasting && one.lasting;
    nearest.steps = std::min(nearest.steps, one.steps);
    const double from = median(run.base_us), to = median(run.run_us);
    if (distance < 0 || std::abs(to - from) < distance) {
      distance = std::abs(to - from);
      nearest.base_us = from;
      nearest.run_us = to;
    }
  }
  return nearest;
}

}  // namespace

void check_comparable(const RunProfile& base, const RunProfile& run) {
  if (base.world_size != run.world_size) {
    throw std::runtime_error("the two cannot be compared: " + base.path + " is of a job of " + size_of(base) +
                             " ranks, " + run.path + " of one of " + size_of(run));
  }
  if (ranks_of(base) != ranks_of(run)) {
    throw std::runtime_error("the two cannot be compared: " + base.path + " has " + ranks_of(base) + ", " + run.path +
                             " has " + ranks_of(run));
  }
  if (base.has_steps != run.has_steps) {
    throw std::runtime_error("the two cannot be compared: " + (base.has_steps ? base : run).path + " has steps, " +
                             (base.has_steps ? run : base).path + " has none");
  }
}

std::vector<StepPair> common_steps(const ProfileRank& base, const ProfileRank& run) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> at;
  for (std::size_t i = 0; i < base.steps.size(); ++i) at.emplace(base.steps[i], i);
  std::vector<StepPair> pairs;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (const auto found = at.find(run.steps[i]); found != at.end()) pairs.push_back({found->second, i});
  }
  return pairs;
}

TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series) {
  struct Slowest {
    double base_us = 0, run_us = 0;
    std::size_t ranks = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Slowest> steps;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto *const of_base = series(base.ranks[r]), *const of_run = series(run.ranks[r]);
    const auto us = [](const std::vector<std::int64_t>* list, std::size_t i) {
      return list != nullptr ? static_cast<double>((*list)[i]) / 1000 : 0.0;
    };
    for (const StepPair& pair : common_steps(base.ranks[r], run.ranks[r])) {
      Slowest& slowest = steps[run.ranks[r].steps[pair.run]];
      slowest.base_us = std::max(slowest.base_us, us(of_base, pair.base));
      slowest.run_us = std::max(slowest.run_us, us(of_run, pair.run));
      ++slowest.ranks;
    }
  }
  TimeSamples samples;
  for (const auto& [step, slowest] : steps) {
    if (slowest.ranks < run.ranks.size()) continue;
    samples.base_us.push_back(slowest.base_us);
    samples.run_us.push_back(slowest.run_us);
  }
  return samples;
}

TimeTest test_longer(const std::vector<TimeSamples>& runs, double tolerance, double floor_us) {
  return test_all(runs, tolerance, floor_us, true);
}
TimeTest test_shorter(const std::vector<TimeSamples>& runs, double tolerance, double floor_us) {
  return test_all(runs, tolerance, floor_us, false);
}

}  // namespace profshim::analysis_detail
