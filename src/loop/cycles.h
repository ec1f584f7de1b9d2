#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "candidates.h"
#include "profshim/loop.h"

namespace profshim::loop {

using Counts = std::map<std::uint32_t, double>;  // calls by symbol

/// The calls between two calls of a group's first member.
struct Cycles {
  const Group* group = nullptr;
  std::vector<std::uint32_t> at;  // first calls of the cycles, and of the unfinished last one
  std::vector<std::size_t> kind;  // of each cycle: equal for similar cycles
  std::size_t usual_kind = 0;
  Counts usual;          // mean of the usual cycles
  double period_ns = 0;  // median of all cycles
  double usual_ns = 0;   // median of the usual ones

  std::size_t size() const { return kind.size(); }
  std::size_t deviations() const;
};

Cycles cycles_of(const Group& group, const std::vector<Call>& calls);
Counts counts_of(const std::vector<Call>& calls, std::size_t begin, std::size_t end);
/// Returns 1 for equal counts, 0 for no common symbol.
double similarity(const Counts& a, const Counts& b);
/// Returns the part of `part` that `whole` contains.
double contained(const Counts& part, const Counts& whole);

}  // namespace profshim::loop
