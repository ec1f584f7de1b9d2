#include "boundaries.h"

#include <algorithm>
#include <utility>

#include "profshim/trace/schema.h"

namespace profshim::loop {
namespace {

constexpr double kNearly = 0.1;  // of a call

}  // namespace

bool is_batch(const Symbol& symbol) {
  return symbol.kind == CallKind::kTorchRange && symbol.name.starts_with(schema::name::kDataLoaderStart);
}

double calls_in(const Counts& counts) {
  double all = 0;
  for (const auto& [symbol, count] : counts) all += count;
  return all;
}

double Boundaries::optimizers_in(const Counts& counts) const {
  double all = 0;
  for (const auto& [symbol, count] : counts) {
    if (symbols_[symbol].kind == CallKind::kOptimizer) all += count;
  }
  return all;
}

Level Boundaries::described(const Cycles& cycles) const {
  Level level;
  level.boundary = boundary_of(cycles);
  level.others = others_of(cycles, level.boundary);
  level.cycles = cycles.size();
  level.deviations = cycles.deviations();
  level.period_ns = cycles.period_ns;
  level.calls = static_cast<std::size_t>(calls_in(cycles.usual) + 0.5);
  return level;
}

Boundary Boundaries::boundary_of(const Cycles& cycles) const {
  Boundary boundary;
  const auto optimizers = static_cast<std::uint32_t>(optimizers_in(cycles.usual) + 0.5);
  auto last = optimizers > 0 ? optimizer_at(optimizers - 1) : std::nullopt;
  // Usual steps may have fewer optimizers than the first ones.
  if (last && cycles.usual.count(*last) == 0) last = last_optimizer_of_usual(cycles);
  if (last) {
    boundary.symbol = *last;
    boundary.every = std::max(1U, calls_in_usual(cycles, *last));
    boundary.at_end = true;
    if (exactness(cycles, boundary) >= kRegular) return boundary;
    boundary = {};
  }
  return boundary_at(cycles, best_first(cycles).front());
}

Boundary Boundaries::boundary_at(const Cycles& cycles, const Candidate& candidate) const {
  Boundary boundary;
  boundary.symbol = candidate.symbol;
  boundary.previous = candidate.previous;
  if (!candidate.previous) boundary.every = std::max(1U, calls_in_usual(cycles, candidate.symbol));
  return boundary;
}

std::vector<Candidate> Boundaries::best_first(const Cycles& cycles) const {
  std::vector<Candidate> members = cycles.group->members;
  const bool trains = has_backward(cycles.usual);
  std::stable_sort(members.begin(), members.end(), [this, trains](const Candidate& a, const Candidate& b) {
    return std::pair(unsuitability(a, trains), a.at.front()) < std::pair(unsuitability(b, trains), b.at.front());
  });
  return members;
}

/// Other calls of which each cycle has the same number: members of the group, then the rarest.
std::vector<Boundary> Boundaries::others_of(const Cycles& cycles, const Boundary& chosen) const {
  std::vector<Boundary> others;
  const auto add = [&](std::uint32_t symbol) {
    const Boundary other{.symbol = symbol, .every = std::max(1U, calls_in_usual(cycles, symbol))};
    const bool is_known = std::any_of(others.begin(), others.end(),
                                      [&](const Boundary& known) { return is_same_name(known.symbol, symbol); });
    if (symbols_[symbol].nested > 0 || is_known || (symbol == chosen.symbol && !chosen.previous) ||
        !is_exact(cycles, other))
      return;
    others.push_back(other);
  };
  for (const Candidate& candidate : best_first(cycles)) {
    if (!candidate.previous) add(candidate.symbol);
  }
  std::vector<std::pair<double, std::uint32_t>> rarest;
  for (const auto& [symbol, count] : cycles.usual) rarest.emplace_back(count, symbol);
  std::sort(rarest.begin(), rarest.end());
  for (const auto& [count, symbol] : rarest) {
    if (count >= 1 - kNearly) add(symbol);
  }
  return others;
}

std::uint32_t Boundaries::calls_in_usual(const Cycles& cycles, std::uint32_t symbol) const {
  double all = 0;
  for (const auto& [other, count] : cycles.usual) all += is_same_name(other, symbol) ? count : 0;
  return static_cast<std::uint32_t>(all + 0.5);
}

bool Boundaries::is_same_name(std::uint32_t a, std::uint32_t b) const {
  return symbols_[a].kind == symbols_[b].kind && symbols_[a].name == symbols_[b].name;
}

bool Boundaries::is_exact(const Cycles& cycles, const Boundary& boundary) const {
  return exactness(cycles, boundary) >= kNearlyAll;
}

/// The part of the cycles that have as many calls as the boundary counts. The first cycle may lack what came before.
double Boundaries::exactness(const Cycles& cycles, const Boundary& boundary) const {
  if (boundary.previous) return 1;  // a member of the group: once in each cycle
  const std::size_t first = cycles.size() > 3 ? 1 : 0;
  std::size_t exact = 0;
  for (std::size_t i = first; i < cycles.size(); ++i) {
    std::uint32_t calls = 0;
    for (std::size_t k = cycles.at[i]; k < cycles.at[i + 1]; ++k)
      calls += is_same_name(calls_[k].symbol, boundary.symbol);
    exact += calls == boundary.every;
  }
  return static_cast<double>(exact) / static_cast<double>(cycles.size() - first);
}

/// Returns 0 for the symbols that mark a step best.
bool Boundaries::has_backward(const Counts& counts) const {
  return std::any_of(counts.begin(), counts.end(), [this](const auto& entry) {
    return symbols_[entry.first].name.starts_with(schema::name::kBackwardStart);
  });
}

int Boundaries::unsuitability(const Candidate& candidate, bool trains) const {
  const int of_pair = candidate.previous ? 4 : 0;  // no source of the spec looks at the previous call
  // A loop that trains without an optimizer of PyTorch evaluates batches, too.
  if (trains && is_batch(symbols_[candidate.symbol])) return 8;
  switch (symbols_[candidate.symbol].kind) {
    case CallKind::kTorchRange:
    case CallKind::kNvtxRange:
      return of_pair;
    case CallKind::kForward:
      return of_pair + 1;
    case CallKind::kCollective:
    case CallKind::kMessage:
    case CallKind::kLaunch:
      return of_pair + 2;
    default:
      return of_pair + 3;
  }
}

std::optional<std::uint32_t> Boundaries::last_optimizer_of_usual(const Cycles& cycles) const {
  std::optional<std::uint32_t> last;
  const auto usual = std::find(cycles.kind.begin(), cycles.kind.end(), cycles.usual_kind) - cycles.kind.begin();
  const auto at = static_cast<std::size_t>(usual);
  for (std::size_t i = cycles.at[at]; i < cycles.at[at + 1]; ++i) {
    if (symbols_[calls_[i].symbol].kind == CallKind::kOptimizer) last = calls_[i].symbol;
  }
  return last;
}

std::optional<std::uint32_t> Boundaries::optimizer_at(std::uint32_t number) const {
  for (const Call& call : calls_) {
    if (symbols_[call.symbol].kind == CallKind::kOptimizer && number-- == 0) return call.symbol;
  }
  return std::nullopt;
}

}  // namespace profshim::loop
