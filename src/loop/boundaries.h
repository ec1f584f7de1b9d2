// The calls that begin or end a cycle.
#pragma once

#include <vector>

#include "cycles.h"
#include "profshim/loop.h"

namespace profshim::loop {

inline constexpr double kMostly = 0.75, kNearlyAll = 0.9;
inline constexpr double kRegular = 0.7;

double calls_in(const Counts& counts);
/// True for the range around each batch that a DataLoader of PyTorch loads, for training or evaluation.
bool is_batch(const Symbol& symbol);

class Boundaries {
 public:
  Boundaries(const std::vector<Symbol>& symbols, const std::vector<Call>& calls) : symbols_(symbols), calls_(calls) {}

  Level described(const Cycles& cycles) const;
  Boundary boundary_of(const Cycles& cycles) const;
  /// True if nearly all cycles have as many calls as the boundary counts.
  bool is_exact(const Cycles& cycles, const Boundary& boundary) const;
  double optimizers_in(const Counts& counts) const;

 private:
  Boundary boundary_at(const Cycles& cycles, const Candidate& candidate) const;
  std::vector<Candidate> best_first(const Cycles& cycles) const;
  std::vector<Boundary> others_of(const Cycles& cycles, const Boundary& chosen) const;
  std::uint32_t calls_in_usual(const Cycles& cycles, std::uint32_t symbol) const;
  bool is_same_name(std::uint32_t a, std::uint32_t b) const;
  double exactness(const Cycles& cycles, const Boundary& boundary) const;
  int unsuitability(const Candidate& candidate, bool trains) const;
  bool has_backward(const Counts& counts) const;
  std::optional<std::uint32_t> last_optimizer_of_usual(const Cycles& cycles) const;
  std::optional<std::uint32_t> optimizer_at(std::uint32_t number) const;

  const std::vector<Symbol>& symbols_;
  const std::vector<Call>& calls_;
};

}  // namespace profshim::loop
