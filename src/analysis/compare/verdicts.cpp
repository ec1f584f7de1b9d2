#include <algorithm>
#include <set>
#include <stdexcept>

#include "analysis/model/activity_names.h"
#include "analysis/model/machine_load.h"
#include "analysis/model/statistics.h"
#include "file_profile.h"
#include "profshim/analysis.h"
#include "profshim/analysis/compare.h"
#include "profshim/base/glob.h"
#include "profshim/trace/schema.h"
#include "statistics.h"
#include "time_tests.h"

namespace profshim {
namespace {

using namespace analysis_detail;
using Verdict = Change::Verdict;

/// Programs repeat these calls until an operation is done.
bool depends_on_timing(const std::string& name) {
  constexpr std::string_view kPatterns[] = {schema::name::kMpiPolling,
                                            "MPI_Test*",
                                            "MPI_Iprobe",
                                            "MPI_Improbe",
                                            "MPI_Waitany",
                                            "MPI_Waitsome",
                                            "MPI_Parrived",
                                            "MPI_Request_get_status*"};
  if (is_poll(name)) return true;
  return std::any_of(std::begin(kPatterns), std::end(kPatterns),
                     [&](std::string_view pattern) { return glob_match(pattern, name); });
}

std::int64_t middle(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

std::string of_steps(std::size_t n, std::size_t all, const std::string& unit) {
  return std::to_string(n) + " of " + std::to_string(all) + " " + unit + (all == 1 ? "" : "s");
}

class Comparer {
 public:
  Comparer(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options)
      : base_(base), run_(run), options_(options) {}

  Comparison all() {
    for (const RunProfile& base : base_) check_comparable(base, run_);
    result_.unit = run_.has_steps ? "step" : "window";
    result_.ranks = run_.ranks.size();
    collect_names();
    collect_phases();
    for (const RowKey& key : names_) compare_counts(key);
    compare_times();
    return std::move(result_);
  }

 private:
  const RunProfile& base() const { return base_.back(); }  // all baseline runs have equal counts

  void collect_names() {
    for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
      common_.push_back(common_steps(base().ranks[r], run_.ranks[r]));
      if (common_.back().empty()) {
        throw std::runtime_error("the two runs cannot be compared: " + base().path + " and " + run_.path + " have no " +
                                 result_.unit + " of rank " + std::to_string(run_.ranks[r].rank) + " in common");
      }
      result_.steps = std::max(result_.steps, common_.back().size());
      for (const auto* const profile : {&base().ranks[r], &run_.ranks[r]}) {
        for (const auto& [key, row] : profile->rows) names_.insert(key);
      }
    }
    for (auto at = names_.begin(); at != names_.end();) {
      if (depends_on_timing(at->second)) {
        result_.not_compared.push_back(at->second);
        at = names_.erase(at);
      } else {
        ++at;
      }
    }
    result_.names = names_.size();
  }

  /// The spec names phases: one that is in one run only tells nothing about the program.
  void collect_phases() {
    std::set<std::string> of_base, of_run;
    const auto collect = [&](const RunProfile& run, std::set<std::string>& names) {
      for (const ProfileRank& rank : run.ranks) {
        for (const auto& [name, phase] : rank.phases) names.insert(name);
        if (!rank.phases.empty()) phase_rows_[&rank] = phase_rows(rank);
      }
    };
    for (const RunProfile& base : base_) collect(base, of_base);
    collect(run_, of_run);
    for (const std::string& name : of_run) {
      if (of_base.erase(name) == 0) {
        result_.notes.push_back("the phase " + name + " is in the new run only: not compared");
        continue;
      }
      for (const RowKind kind : {RowKind::kPhase, RowKind::kPhaseLaunches, RowKind::kPhaseDevice})
        names_.emplace(kind, name);
    }
    for (const std::string& name : of_base)
      result_.notes.push_back("the phase " + name + " is in the earlier run only: not compared");
  }

  const ProfileRow* row_of(const ProfileRank& rank, const RowKey& key) const {
    const auto find = [&](const auto& rows) {
      const auto at = rows.find(key);
      return at == rows.end() ? nullptr : &at->second;
    };
    if (key.first < RowKind::kPhase) return find(rank.rows);
    const auto at = phase_rows_.find(&rank);
    return at == phase_rows_.end() ? nullptr : find(at->second);
  }

  /// (count in base, count in run) -> number of steps.
  using Differences = std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>;

  static Differences differences(const ProfileRow* base, const ProfileRow* run, const std::vector<StepPair>& common) {
    Differences found;
    std::vector<std::int64_t> before, after;
    for (const StepPair& pair : common) {
      before.push_back(base != nullptr ? base->count[pair.base] : 0);
      after.push_back(run != nullptr ? run->count[pair.run] : 0);
      if (before.back() != after.back()) ++found[{before.back(), after.back()}];
    }
    const bool wanders = (base != nullptr && base->other_threads) || (run != nullptr && run->other_threads);
    if (!wanders) return found;
    const std::pair medians(middle(before), middle(after));
    if (medians.first == medians.second) return {};
    return {{medians, common.size()}};
  }

  void compare_counts(const RowKey& key) {
    Differences all;
    std::vector<int> ranks;
    std::size_t most_steps = 0;
    bool in_base = false, in_run = false;
    for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
      const ProfileRow *const base = row_of(this->base().ranks[r], key), *const run = row_of(run_.ranks[r], key);
      for (const StepPair& pair : common_[r]) {
        in_base = in_base || (base != nullptr && base->count[pair.base] > 0);
        in_run = in_run || (run != nullptr && run->count[pair.run] > 0);
      }
      const Differences of_rank = differences(base, run, common_[r]);
      std::size_t steps = 0;
      for (const auto& [counts, n] : of_rank) all[counts] += n, steps += n;
      most_steps = std::max(most_steps, steps);
      if (!of_rank.empty()) ranks.push_back(run_.ranks[r].rank);
    }
    if (all.empty()) return;
    const auto often =
        std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Change change{.what = Change::What::kCount, .verdict = Verdict::kRegression};
    change.kind = to_text(key.first);
    change.name = key.second;
    change.before = static_cast<double>(often->first.first);
    change.after = static_cast<double>(often->first.second);
    change.ranks = rank_list(ranks);
    change.steps = of_steps(most_steps, result_.steps, result_.unit);
    if (!in_base) change.sentence = "new";
    if (!in_run) change.sentence = "gone";
    if (all.size() > 1) {
      change.sentence += (change.sentence.empty() ? "" : ", ") + std::string("most often; range: ") +
                         std::to_string(all.begin()->first.first) + " -> " + std::to_string(all.begin()->first.second) +
                         " to " + std::to_string(all.rbegin()->first.first) + " -> " +
                         std::to_string(all.rbegin()->first.second);
    }
    result_.changes.push_back(std::move(change));
  }

  struct TimeRow {
    std::string kind, name;
    bool alone = false;  // a regression even if the step time has not grown
    Series series = {};  // none: only the ranks in `ranks` may be slower
    std::string ranks = {};
    std::vector<TimeSamples> samples = {};
    TimeTest longer = {};
  };

  TimeRow time_row(std::string kind, std::string name, bool alone, const Series& series) const {
    TimeRow row{std::move(kind), std::move(name), alone, series};
    const bool on_device = row.kind == to_text(RowKind::kKernel) && alone;
    for (std::size_t i = 0; i < base_.size(); ++i) {
      row.samples.push_back(time_samples(base_[i], run_, series));
      if (on_device) continue;
      row.samples.back().uses_cpu = true;
      row.samples.back().longer = machine_[i].longer;
      row.samples.back().shorter = machine_[i].shorter;
      // Growth of CPU time excuses only a longer step time.
      if (!is_step_time(row.name)) row.samples.back().longer.cpu_us = row.samples.back().shorter.cpu_us = 0;
    }
    row.longer = test_longer(row.samples, options_, options_.alpha / 2);
    return row;
  }

  /// Returns the row of the rank whose CPU time has grown most certainly, with all ranks whose CPU time has grown.
  std::optional<TimeRow> cpu_row() const {
    std::optional<TimeRow> worst;
    std::vector<int> slower;
    for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
      TimeRow row{"time", "CPU time", true};
      for (const RunProfile& base : base_) {
        std::optional<TimeSamples> samples = cpu_samples(base, run_, r, options_, base_.size() >= kRunsForVariation);
        if (samples) row.samples.push_back(std::move(*samples));
      }
      if (row.samples.size() < base_.size()) continue;
      row.longer = test_longer(row.samples, options_, options_.alpha / 2);
      const auto tests = static_cast<double>(run_.ranks.size());
      row.longer.p = std::min(row.longer.p * tests, 1.0);
      row.longer.least_p = std::min(row.longer.least_p * tests, 1.0);
      const auto has_grown = [](const TimeTest& t) { return t.large && t.lasting && t.cause == Cause::kProgram; };
      const auto certainty = [&](const TimeTest& t) { return std::pair(has_grown(t), -t.p); };
      if (has_grown(row.longer) && row.longer.p <= options_.alpha / 2) slower.push_back(run_.ranks[r].rank);
      if (!worst || certainty(row.longer) > certainty(worst->longer)) worst = std::move(row);
    }
    if (worst) worst->ranks = rank_list(slower);
    return worst;
  }

  bool is_step_time(const std::string& name) const { return name == result_.unit + " time"; }

  void compare_times() {
    const double half = options_.alpha / 2;
    for (const RunProfile& base : base_) note_other_causes(machine_.emplace_back(), base, run_);
    const TimeRow step =
        time_row("time", result_.unit + " time", true, [](const ProfileRank& r) { return &r.step_ns; });
    const Verdict of_step = add_time(step, step.longer.p <= half, half, 1, Verdict::kSame);

    std::vector<TimeRow> rows;
    rows.push_back(time_row("time", "communication", false, [](const ProfileRank& r) { return &r.communication_ns; }));
    if (std::optional<TimeRow> row = cpu_row()) rows.push_back(std::move(*row));
    for (const RowKey& key : names_) {
      const bool alone = key.first == RowKind::kKernel && !key.second.starts_with(schema::name::kNcclStart);
      rows.push_back(time_row(std::string(to_text(key.first)), key.second, alone, [this, &key](const ProfileRank& r) {
        const ProfileRow* const row = row_of(r, key);
        return row != nullptr ? &row->time_ns : nullptr;
      }));
    }
    // A time below the floor cannot grow by more than the floor.
    std::erase_if(
        rows, [&](const TimeRow& row) { return std::max(row.longer.base_us, row.longer.run_us) <= options_.floor_us; });
    std::vector<double> p;
    for (const TimeRow& row : rows) p.push_back(row.longer.p);
    const std::vector<bool> significant = holm(p, half);
    for (std::size_t i = 0; i < rows.size(); ++i) add_time(rows[i], significant[i], half, rows.size(), of_step);
    result_.times = rows.size() + 1;
  }

  Verdict add_time(const TimeRow& row, bool significant, double alpha, std::size_t rows, Verdict of_step) {
    const TimeTest& t = row.longer;
    Change change{.what = Change::What::kTime, .kind = row.kind, .name = row.name};
    change.before = t.base_us;
    change.after = t.run_us;
    change.steps = std::to_string(t.steps) + " " + result_.unit + (t.steps == 1 ? "" : "s");
    change.p = t.p;
    const bool is_step = is_step_time(row.name);
    if (t.least_p > alpha / static_cast<double>(rows) || t.steps < 3) {
      if (!is_step && !t.large) return Verdict::kSame;
      change.verdict = Verdict::kCannotTell;
      change.sentence = "cannot tell: too few " + result_.unit + "s (each run needs " +
                        std::to_string(steps_needed(alpha, rows)) + ")";
      change.p.reset();
    } else if (significant && t.large && t.lasting) {
      const bool fails = t.cause == Cause::kProgram && (row.alone || of_step == Verdict::kRegression);
      change.verdict = fails ? Verdict::kRegression : Verdict::kNote;
      change.sentence = fails ? "slower" : "slower, but the " + result_.unit + " is not";
      if (!fails && of_step == Verdict::kRegression) {
        change.sentence = "slower, but " + excuse(t.cause);
      } else if (!fails && (is_step || of_step == Verdict::kCannotTell)) {
        change.verdict = Verdict::kCannotTell;
        change.sentence =
            is_step ? cannot_tell(t.cause) : "cannot tell: slower, and the " + result_.unit + " may be slower too";
      }
      change.ranks = slower_ranks(row);
    } else if (row.series) {
      const TimeTest shorter = test_shorter(row.samples, options_, options_.alpha / 2);
      const bool faster = shorter.p <= alpha / static_cast<double>(rows) && shorter.large && shorter.lasting &&
                          shorter.cause == Cause::kProgram;
      if (!faster) return Verdict::kSame;
      change.verdict = Verdict::kFaster;
      change.p = shorter.p;
      change.sentence = "faster";
    } else {
      return Verdict::kSame;
    }
    result_.changes.push_back(std::move(change));
    return result_.changes.back().verdict;
  }

  std::string cannot_tell(Cause cause) const {
    if (cause == Cause::kRuns && base_.size() < kRunsForVariation) {
      return "cannot tell: runs on one machine can differ by this much; compare with a baseline of three or more "
             "runs (--update-baseline)";
    }
    return "cannot tell: " + excuse(cause);
  }

  std::string excuse(Cause cause) const {
    if (cause == Cause::kRuns) return "the runs of the baseline differ by this much";
    std::size_t most = 0;
    for (std::size_t i = 1; i < base_.size(); ++i) {
      if (machine_[i].longer.busier_us > machine_[most].longer.busier_us) most = i;
    }
    return "the machine was busier: " + load_words(*base_[most].machine, *run_.machine);
  }

  std::string slower_ranks(const TimeRow& row) const {
    if (!row.series) return row.ranks;
    std::vector<int> ranks;
    for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
      std::vector<double> before, after;
      const auto *const of_base = row.series(base().ranks[r]), *const of_run = row.series(run_.ranks[r]);
      for (const StepPair& pair : common_[r]) {
        before.push_back(of_base != nullptr ? static_cast<double>((*of_base)[pair.base]) : 0);
        after.push_back(of_run != nullptr ? static_cast<double>((*of_run)[pair.run]) : 0);
      }
      if (median(after) > median(before) * (1 + options_.tolerance)) ranks.push_back(run_.ranks[r].rank);
    }
    return rank_list(ranks);
  }

  const std::vector<RunProfile>& base_;
  const RunProfile& run_;
  const CompareOptions& options_;
  Comparison result_;
  std::vector<TimeSamples> machine_;  // one per baseline run, without times
  std::vector<std::vector<StepPair>> common_;
  std::set<RowKey> names_;
  std::map<const ProfileRank*, std::map<RowKey, ProfileRow>> phase_rows_;
};

void sort_worst_first(std::vector<Change>& changes) {
  const auto weight = [](const Change& c) {
    const double before = c.before.value_or(0), after = c.after.value_or(0);
    if (c.what == Change::What::kTime) return before > 0 ? after / before : 0;
    return std::abs(after - before);
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
    return std::tuple(a.verdict, a.what, -weight(a)) < std::tuple(b.verdict, b.what, -weight(b));
  });
}

}  // namespace

bool Comparison::failed() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change& c) { return c.verdict == Verdict::kRegression; });
}

Comparison compare_runs(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options) {
  Comparison result = Comparer(base, run, options).all();
  sort_worst_first(result.changes);
  return result;
}

void append(Comparison& to, Comparison&& more) {
  std::move(more.changes.begin(), more.changes.end(), std::back_inserter(to.changes));
  sort_worst_first(to.changes);
  to.ranks = std::max(to.ranks, more.ranks);
  to.steps = std::max(to.steps, more.steps);
  to.rules += more.rules;
  if (to.unit.empty()) to.unit = more.unit;
}

}  // namespace profshim
