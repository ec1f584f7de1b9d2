#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "boundaries.h"
#include "candidates.h"
#include "cycles.h"
#include "profshim/loop.h"

namespace profshim::loop {
namespace {

constexpr double kNesting = 1.5;                      // least ratio of the periods of two levels
constexpr double kLargePart = 0.3, kSmallPart = 0.1;  // of the time
constexpr double kRegularWithOptimizer = 0.5;
constexpr double kSmallLayer = 0.2;  // part of its calls
constexpr double kRecurring = 3;     // calls

double regularity(const Cycles& cycles) {
  return 1 - static_cast<double>(cycles.deviations()) / static_cast<double>(cycles.size());
}

/// Without the first two cycles: DistributedDataParallel rebuilds its buckets in the second.
double regularity_after_start(const Cycles& cycles) {
  constexpr std::ptrdiff_t kStart = 2, kFewest = 5;
  if (cycles.kind.size() < kStart + kFewest) return regularity(cycles);
  const auto begin = cycles.kind.begin() + kStart;
  return static_cast<double>(std::count(begin, cycles.kind.end(), cycles.usual_kind)) /
         static_cast<double>(cycles.kind.end() - begin);
}

class Finder {
 public:
  Finder(const std::vector<Symbol>& symbols, const std::vector<Call>& calls)
      : symbols_(symbols), calls_(calls), boundaries_(symbols, calls) {}

  Finding find() {
    const std::vector<Group> groups = groups_of(symbols_.size(), calls_);
    std::vector<Cycles> levels;
    for (const Group& group : groups) {
      Cycles cycles = cycles_of(group, calls_);
      // Evaluations and the ends of epochs make more unlike steps than other loops have.
      const double least = optimizers_in(cycles.usual) > 0.5 ? kRegularWithOptimizer : kRegular;
      if (regularity(cycles) >= least) levels.push_back(std::move(cycles));
    }
    std::sort(levels.begin(), levels.end(), [](const Cycles& a, const Cycles& b) { return a.period_ns < b.period_ns; });
    keep_one_of_each_period(levels);
    Finding finding;
    const bool has_optimizers = std::any_of(levels.begin(), levels.end(),
                                            [this](const Cycles& level) { return optimizers_in(level.usual) > 0.5; });
    if (!has_optimizers && add_irregular_optimizer(finding)) return finding;
    if (levels.empty()) return finding;
    std::size_t chosen = 0;
    for (std::size_t outer = 1; outer < levels.size(); ++outer) {
      if (belongs_to(levels[chosen], levels[outer])) chosen = outer;
    }
    for (const Cycles& level : levels) finding.levels.push_back(boundaries_.described(level));
    finding.chosen = chosen;
    finding.confidence = confidence_of(levels[chosen], finding.levels[chosen]);
    if (finding.levels[chosen].calls <= 1) join_bursts(levels[chosen], finding.levels[chosen]);
    finding.may_be_part = may_be_part(levels[chosen]);
    look_before(levels[chosen], finding);
    return finding;
  }

 private:
  void keep_one_of_each_period(std::vector<Cycles>& levels) const {
    std::vector<Cycles> kept;
    for (Cycles& level : levels) {
      if (!kept.empty() && level.period_ns < kNesting * kept.back().period_ns) {
        if (merit(level) > merit(kept.back())) kept.back() = std::move(level);
        continue;
      }
      kept.push_back(std::move(level));
    }
    levels = std::move(kept);
  }

  // More members make a coincidence less likely.
  double merit(const Cycles& level) const {
    const double regular = regularity(level);
    return regular + (optimizers_in(level.usual) > 0.5 ? 1 : 0) +
           static_cast<double>(level.group->members.size()) * 1e-3;
  }

  double optimizers_in(const Counts& counts) const { return boundaries_.optimizers_in(counts); }

  struct Unusual {
    std::size_t cycles = 0;
    bool replaces = false;               // nearly all of them lack a symbol of the usual cycles
    double part = 0, part_of_calls = 0;  // calls that usual cycles lack: their part of the time and of all calls
    Counts extra;                        // mean
  };

  /// True if the inner loop is only a part of a step, so that the outer loop makes the steps.
  bool belongs_to(const Cycles& inner, const Cycles& outer) const {
    const double own = optimizers_in(inner.usual), all = optimizers_in(outer.usual);
    if (own < 0.5 && all > 0.5) return true;  // micro-batches
    if (own < 0.5 && is_named_by_the_job(outer) && !is_named_by_the_job(inner)) return true;
    if (own < 0.5 && iterates_until_done(inner, outer)) return true;
    const Unusual unusual = unusual_of(inner);
    if (is_layer(inner, unusual) && outer.size() >= 3 && regularity(outer) >= kNearlyAll) return true;
    // Each outer cycle must have one unusual inner cycle.
    const auto cycles = static_cast<double>(outer.size()), found = static_cast<double>(unusual.cycles);
    const double tolerance = std::max(1.0, 0.2 * cycles);
    return outer.size() >= 3 && (found > cycles ? found - cycles : cycles - found) <= tolerance &&
           is_part_of_step(inner, unusual);
  }

  /// True if the level may be a layer of a network: operators only, and many more of them between two networks.
  bool is_layer(const Cycles& level, const Unusual& unusual) const {
    const bool only_operators = std::all_of(level.usual.begin(), level.usual.end(), [this](const auto& entry) {
      return symbols_[entry.first].kind == CallKind::kOperator || symbols_[entry.first].kind == CallKind::kOther;
    });
    return only_operators && calls_in(unusual.extra) >= kSmallLayer * calls_in(level.usual);
  }

  /// True if a regular outer loop has varying numbers of inner cycles, as a time step has iterations of its solver.
  bool iterates_until_done(const Cycles& inner, const Cycles& outer) const {
    if (outer.size() < 3 || regularity(outer) < kNearlyAll) return false;
    std::map<std::size_t, std::size_t> frequency;  // of numbers of inner cycles
    for (std::size_t i = 0; i < outer.size(); ++i) {
      const auto begin = std::lower_bound(inner.at.begin(), inner.at.end(), outer.at[i]);
      ++frequency[static_cast<std::size_t>(std::lower_bound(begin, inner.at.end(), outer.at[i + 1]) - begin)];
    }
    std::size_t most = 0;
    for (const auto& [number, times] : frequency) most = std::max(most, times);
    return static_cast<double>(most) < kRegular * static_cast<double>(outer.size());
  }

  bool is_part_of_step(const Cycles& inner, const Unusual& unusual) const {
    if (optimizers_in(inner.usual) < 0.5) return unusual.part >= kLargePart && unusual.part_of_calls >= kSmallPart;
    if (unusual.replaces || optimizers_in(unusual.extra) > 0.5) return true;  // several optimizers take turns
    // A rollout comes before the first optimizer. An evaluation comes after some steps.
    return unusual.part >= kSmallPart && contained(unusual.extra, before_first_step(inner)) >= kMostly;
  }

  /// The calls before the first cycle, without those of a usual cycle: they end in the passes of the first step.
  Counts before_first_step(const Cycles& cycles) const {
    Counts before = counts_of(calls_, 0, cycles.at.front());
    for (auto& [symbol, count] : before) {
      const auto usual = cycles.usual.find(symbol);
      if (usual != cycles.usual.end()) count = std::max(0.0, count - usual->second);
    }
    return before;
  }

  /// True if a longer loop may begin to show, too short for a level.
  bool may_be_part(const Cycles& level) const {
    const Unusual unusual = unusual_of(level);
    return (unusual.cycles == 1 && is_part_of_step(level, unusual)) || unusual.cycles == 2 || unusual.cycles == 3;
  }

  /// True if a range that is not an epoch covers most of each cycle.
  bool is_named_by_the_job(const Cycles& level) const {
    const Symbol& symbol = symbols_[boundaries_.boundary_of(level).symbol];
    const bool is_named = symbol.kind == CallKind::kTorchRange || symbol.kind == CallKind::kNvtxRange;
    if (!is_named || symbol.name.starts_with("epoch") || symbol.name.starts_with("Epoch")) return false;
    double covered_ns = 0;
    for (std::size_t i = level.at.front(); i < level.at.back(); ++i) {
      if (symbols_[calls_[i].symbol].name == symbol.name)
        covered_ns += static_cast<double>(calls_[i].end_ns - calls_[i].begin_ns);
    }
    return covered_ns >=
           0.5 * static_cast<double>(calls_[level.at.back()].begin_ns - calls_[level.at.front()].begin_ns);
  }

  /// Without the first cycle, which often makes the optimizer's state or compiles.
  Unusual unusual_of(const Cycles& level) const {
    Unusual unusual;
    std::map<std::uint32_t, std::size_t> lacking;
    double extra_ns = 0;
    for (std::size_t i = 1; i < level.size(); ++i) {
      if (level.kind[i] == level.usual_kind) continue;
      ++unusual.cycles;
      const Counts counts = counts_of(calls_, level.at[i], level.at[i + 1]);
      for (const auto& [symbol, count] : counts) {
        const auto usual = level.usual.find(symbol);
        unusual.extra[symbol] += std::max(0.0, count - (usual == level.usual.end() ? 0 : usual->second));
      }
      for (const auto& [symbol, count] : level.usual)
        lacking[symbol] += count > 0.9 && counts.count(symbol) == 0 ? 1 : 0;
      extra_ns += static_cast<double>(calls_[level.at[i + 1]].begin_ns - calls_[level.at[i]].begin_ns) - level.usual_ns;
    }
    for (auto& [symbol, count] : unusual.extra) {
      unusual.part_of_calls += count / static_cast<double>(level.at.back() - level.at.front());
      count /= static_cast<double>(unusual.cycles);
    }
    for (const auto& [symbol, cycles] : lacking) {
      unusual.replaces =
          unusual.replaces || static_cast<double>(cycles) >= kMostly * static_cast<double>(unusual.cycles);
    }
    const auto all_ns = static_cast<double>(calls_[level.at.back()].begin_ns - calls_[level.at.front()].begin_ns);
    unusual.part = all_ns > 0 ? extra_ns / all_ns : 0;
    return unusual;
  }

  /// Equal calls that come in bursts of one length are one step.
  void join_bursts(const Cycles& cycles, Level& level) const {
    std::vector<Call> equal;
    for (const std::uint32_t at : cycles.at) equal.push_back(calls_[at]);
    const std::size_t burst = calls_in_burst(equal);
    if (burst <= 1 || level.boundary.previous) return;
    level.boundary.every *= static_cast<std::uint32_t>(burst);
    level.calls *= burst;
    level.cycles /= burst;
    level.period_ns *= static_cast<double>(burst);
    level.others.clear();
  }

  /// Steps of the most frequent optimizer, if they are too unlike for a regular loop: episodes, line searches.
  bool add_irregular_optimizer(Finding& finding) const {
    std::map<std::uint32_t, std::vector<std::int64_t>> begins;
    for (const Call& call : calls_) {
      if (symbols_[call.symbol].kind == CallKind::kOptimizer) begins[call.symbol].push_back(call.begin_ns);
    }
    const auto most = std::max_element(begins.begin(), begins.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == begins.end()) return false;
    Level level;
    level.boundary = {.symbol = most->first, .at_end = true};
    level.cycles = level.deviations = most->second.size() - 1;
    if (level.cycles > 0)
      level.period_ns =
          static_cast<double>(most->second.back() - most->second.front()) / static_cast<double>(level.cycles);
    level.calls = calls_.size() / most->second.size();
    finding.levels.push_back(level);
    finding.chosen = 0;
    finding.confidence = Confidence::kLow;
    return true;
  }

  void look_before(const Cycles& cycles, Finding& finding) const {
    const std::uint32_t first = cycles.at.front();
    const auto begin_of = [this](std::uint32_t i) { return static_cast<double>(calls_[i].begin_ns); };
    const double of_cycles = begin_of(cycles.at.back()) - begin_of(first);
    finding.time_before = of_cycles > 0 ? (begin_of(first) - begin_of(0)) / of_cycles : 0;
    Counts recurring = counts_of(calls_, 0, first);
    std::erase_if(recurring, [](const auto& entry) { return entry.second < kRecurring; });
    finding.common_before = recurring.empty() ? 0 : contained(cycles.usual, recurring);
  }

  Confidence confidence_of(const Cycles& cycles, const Level& level) const {
    const double regular = regularity_after_start(cycles);
    const Symbol& symbol = symbols_[level.boundary.symbol];
    const bool is_marked = symbol.kind < CallKind::kOperator && !is_batch(symbol) && !level.boundary.previous;
    if (!boundaries_.is_exact(cycles, level.boundary)) return Confidence::kLow;
    // A call that recurs alone may be part of a step. So may cycles without optimizer, of which some are unusual.
    const bool may_be_inner = level.calls <= 1 || (optimizers_in(cycles.usual) < 0.5 && level.deviations >= 3);
    if (cycles.size() >= 5 && regular >= kNearlyAll && is_marked && !may_be_inner) return Confidence::kHigh;
    const double least = optimizers_in(cycles.usual) > 0.5 ? kRegular : kMostly;
    return cycles.size() >= 3 && regular >= least ? Confidence::kMedium : Confidence::kLow;
  }

  const std::vector<Symbol>& symbols_;
  const std::vector<Call>& calls_;
  const Boundaries boundaries_;
};

/// Gives calls of one function the same symbol.
std::vector<Call> without_peers(const Sequence& sequence) {
  std::map<std::pair<CallKind, std::string_view>, std::uint32_t> first;
  std::vector<std::uint32_t> merged;
  for (const Symbol& symbol : sequence.symbols) {
    const auto id = static_cast<std::uint32_t>(merged.size());
    merged.push_back(first.emplace(std::pair(symbol.kind, std::string_view(symbol.name)), id).first->second);
  }
  std::vector<Call> calls = sequence.calls;
  for (Call& call : calls) call.symbol = merged[call.symbol];
  return calls;
}

}  // namespace

Finding find_loop(const Sequence& sequence) {
  Finding finding = Finder(sequence.symbols, sequence.calls).find();
  const bool has_peers = std::any_of(sequence.symbols.begin(), sequence.symbols.end(),
                                     [](const Symbol& symbol) { return symbol.peer >= 0; });
  if (!has_peers || (finding.chosen && finding.confidence != Confidence::kLow)) return finding;
  // A master meets its workers in any order.
  Finding merged = Finder(sequence.symbols, without_peers(sequence)).find();
  return merged.chosen ? merged : finding;
}

namespace {

constexpr std::size_t kFewCycles = 5, kManyCycles = 8;
/// Loops without a marker may be parts of longer loops, or of the job's start.
constexpr std::int64_t kWithoutMarker_ns = 2'000'000'000;
/// Small loops of operators are parts of a step, or of the job's start.
constexpr std::size_t kFewCalls = 3;
constexpr double kMostOfTime = 0.5;
constexpr double kLongBefore = 1.0 / 3, kAlike = 0.2;

}  // namespace

bool is_settled(const Sequence& sequence, const Finding& finding, std::int64_t elapsed_ns, std::int64_t waited_ns) {
  if (!finding.chosen || finding.confidence == Confidence::kLow || finding.may_be_part) return false;
  const Level& level = finding.levels[*finding.chosen];
  if (level.cycles < (finding.confidence == Confidence::kHigh ? kFewCycles : kManyCycles)) return false;
  const CallKind kind = sequence.symbols[level.boundary.symbol].kind;
  // While it waits for a CPU the job makes no progress: a part of one step would seem to last.
  if (!is_range(kind) && elapsed_ns - waited_ns < kWithoutMarker_ns) return false;
  const double covered_ns = level.period_ns * static_cast<double>(level.cycles);
  const bool is_small = level.calls < kFewCalls || covered_ns < kMostOfTime * static_cast<double>(elapsed_ns);
  if (kind == CallKind::kOperator && is_small) return false;
  // A rollout runs the model, too, and recurs only after all steps that use it.
  return finding.time_before < kLongBefore || finding.common_before < kAlike;
}

}  // namespace profshim::loop
