#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analysis/model/statistics.h"
#include "profshim/analysis.h"
#include "profshim/analysis/compare.h"
#include "profshim/base/glob.h"
#include "profshim/base/text/number_text.h"
#include "statistics.h"
#include "time_tests.h"

namespace profshim {
namespace {

using namespace analysis_detail;
using Verdict = Change::Verdict;

bool counts_row(CheckMetric metric, RowKind kind) {
  if (metric == CheckMetric::kKernels || metric == CheckMetric::kKernelUs) return kind == RowKind::kKernel;
  return kind != RowKind::kKernel && kind != RowKind::kCopy;
}

std::vector<std::int64_t> series_of(const CheckRule& rule, const ProfileRank& rank, bool* any = nullptr) {
  const auto phase = rank.phases.find(rule.phase);
  const bool is_in_phase = !rule.phase.empty();
  if (is_in_phase && phase == rank.phases.end()) return std::vector<std::int64_t>(rank.steps.size());
  const ProfileSums& sums = is_in_phase ? static_cast<const ProfileSums&>(phase->second) : rank;
  switch (rule.metric) {
    case CheckMetric::kLaunches:
      return sums.launches;
    case CheckMetric::kMpiBytes:
      return sums.mpi_bytes;
    case CheckMetric::kStepUs:
      return is_in_phase ? phase->second.time_ns : rank.step_ns;
    case CheckMetric::kCommunication:
      return sums.communication_ns;
    default:
      break;
  }
  std::vector<std::int64_t> sum(rank.steps.size());
  for (const auto& [key, row] : sums.rows) {
    if (!counts_row(rule.metric, key.first) || !(rule.name.empty() || glob_match(rule.name, key.second))) continue;
    if (any != nullptr) *any = true;
    const auto& list = is_count(rule.metric) ? row.count : row.time_ns;
    for (std::size_t i = 0; i < list.size(); ++i) sum[i] = bounded_sum(sum[i], list[i]);
  }
  return sum;
}

struct Extremes {
  double least = 0, most = 0;
};
/// Returns the extremes of all steps' counts, or of the ranks' median times in microseconds.
Extremes extremes(const CheckRule& rule, const RunProfile& run) {
  std::vector<double> values;
  for (const ProfileRank& rank : run.ranks) {
    std::vector<double> steps;
    for (const std::int64_t value : series_of(rule, rank)) {
      steps.push_back(is_count(rule.metric) ? static_cast<double>(value) : static_cast<double>(value) / 1000);
    }
    if (is_count(rule.metric)) {
      values.insert(values.end(), steps.begin(), steps.end());
    } else {
      values.push_back(median(steps));
    }
  }
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

std::string plain(double value) {
  return fixed_text(value, value == std::floor(value) && std::abs(value) < 1e15 ? 0 : 3);
}

class Rules {
 public:
  Rules(const Spec& spec, const std::string& spec_path, const RunProfile& run, const CompareOptions& options)
      : spec_(spec), spec_path_(spec_path), run_(run), options_(options) {}

  Comparison all() {
    result_.unit = run_.has_steps ? "step" : "window";
    result_.ranks = run_.ranks.size();
    for (const ProfileRank& rank : run_.ranks) result_.steps = std::max(result_.steps, rank.steps.size());
    traces();
    for (const CheckRule& rule : spec_.check.rules) times_tested_ += !rule.baseline.empty() && !is_count(rule.metric);
    for (const CheckRule& rule : spec_.check.rules) check(rule);
    return std::move(result_);
  }

 private:
  Change& add(const std::string& kind, const std::string& name, Verdict verdict, std::string sentence) {
    Change change{.what = Change::What::kRule, .verdict = verdict, .kind = kind, .name = name};
    change.sentence = std::move(sentence);
    return result_.changes.emplace_back(std::move(change));
  }

  void traces() {
    TracesSeen seen{.files = run_.files,
                    .incomplete_files = run_.incomplete_files,
                    .dropped = run_.dropped,
                    .world_size = run_.world_size};
    for (const ProfileRank& rank : run_.ranks) seen.ranks.push_back(rank.rank);
    for (const TraceRule& rule : check_traces(spec_, seen)) {
      ++result_.rules;
      const Verdict verdict = !rule.holds ? Verdict::kCannotTell : *rule.holds ? Verdict::kSame : Verdict::kRegression;
      add("rule", rule.key, verdict, rule.sentence).ranks = rank_list(rule.missing);
    }
  }

  void check(const CheckRule& rule) {
    ++result_.rules;
    bool any = false;
    for (const ProfileRank& rank : run_.ranks) series_of(rule, rank, &any);
    const Extremes now = extremes(rule, run_);
    const std::string place = spec_path_ + ":" + std::to_string(rule.line);
    Change& change = add(std::string(to_text(rule.metric)), rule.name, Verdict::kSame, place);
    change.phase = rule.phase;
    change.after = rule.min && !rule.max ? now.least : now.most;
    const bool has_phase = std::any_of(run_.ranks.begin(), run_.ranks.end(), [&](const ProfileRank& rank) {
      return rule.phase.empty() || rank.phases.contains(rule.phase);
    });
    if (!has_phase) {
      change.verdict = Verdict::kNote;
      change.sentence += ": this run does not have the phase";
    } else if (!rule.name.empty() && !any) {
      change.verdict = Verdict::kNote;
      change.sentence += ": no call or kernel of this run matches this name";
    }
    if (rule.max && now.most > *rule.max) {
      change.verdict = Verdict::kRegression;
      change.after = now.most;
      change.sentence += ": " + plain(now.most) + " is more than max = " + plain(*rule.max);
    }
    if (rule.min && now.least < *rule.min) {
      change.verdict = Verdict::kRegression;
      change.after = now.least;
      change.sentence += ": " + plain(now.least) + " is less than min = " + plain(*rule.min);
    }
    if (!rule.baseline.empty()) against_baseline(rule, change);
  }

  void against_baseline(const CheckRule& rule, Change& change) {
    const std::size_t slash = spec_path_.rfind('/');
    const bool relative = rule.baseline.front() != '/' && slash != std::string::npos;
    const std::vector<RunProfile> base =
        read_baseline(relative ? spec_path_.substr(0, slash + 1) + rule.baseline : rule.baseline);
    for (const RunProfile& run : base) check_comparable(run, run_);
    if (!is_count(rule.metric)) return against_times(rule, base, change);
    const double before = extremes(rule, base.back()).most, after = extremes(rule, run_).most;
    change.before = before;
    if (std::abs(after - before) <= rule.tolerance.value_or(0) * before) return;
    change.verdict = Verdict::kRegression;
    change.sentence += ": the baseline has " + plain(before) + ", this run " + plain(after);
  }

  void against_times(const CheckRule& rule, const std::vector<RunProfile>& base, Change& change) {
    const double tolerance = rule.tolerance.value_or(options_.tolerance);
    std::vector<TimeSamples> samples;
    for (const RunProfile& run : base) {
      std::map<const ProfileRank*, std::vector<std::int64_t>> kept;
      samples.push_back(
          time_samples(run, run_, [&](const ProfileRank& rank) { return &(kept[&rank] = series_of(rule, rank)); }));
      if (rule.metric != CheckMetric::kKernelUs) note_other_causes(samples.back(), run, run_);
    }
    const double alpha = options_.alpha / static_cast<double>(times_tested_);
    CompareOptions options = options_;
    options.tolerance = tolerance;
    const TimeTest test = test_longer(samples, options, alpha);
    change.before = test.base_us;
    change.after = test.run_us;
    change.p = test.p;
    if (test.least_p > alpha || test.steps < 3) {
      change.p.reset();
      if (change.verdict == Verdict::kSame) change.verdict = Verdict::kCannotTell;
      change.sentence += ": cannot tell: too few " + result_.unit + "s (each run needs " +
                         std::to_string(steps_needed(alpha, 1)) + ")";
    } else if (test.p <= alpha && test.large && test.lasting && test.cause != Cause::kProgram) {
      if (change.verdict == Verdict::kSame) change.verdict = Verdict::kCannotTell;
      change.sentence += test.cause == Cause::kMachine ? ": cannot tell: the machine was busier"
                                                       : ": cannot tell: runs of one program may differ by this much";
    } else if (test.p <= alpha && test.large && test.lasting) {
      change.verdict = Verdict::kRegression;
      change.sentence += ": slower by more than tolerance = " + plain(tolerance);
    }
  }

  const Spec& spec_;
  const std::string& spec_path_;
  const RunProfile& run_;
  const CompareOptions& options_;
  std::size_t times_tested_ = 0;
  Comparison result_;
};

}  // namespace

Comparison check_rules(const Spec& spec, const std::string& spec_path, const RunProfile& run,
                       const CompareOptions& options) {
  return Rules(spec, spec_path, run, options).all();
}

}  // namespace profshim
