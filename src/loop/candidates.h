#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profshim/loop.h"

namespace profshim::loop {

// Calls that may begin a cycle.

/// Calls that recur: all of one symbol, or those that follow a call of another symbol.
struct Candidate {
  std::uint32_t symbol = 0;
  std::optional<std::uint32_t> previous;
  std::vector<std::uint32_t> at;  // indexes into the calls
};

/// Candidates of one loop: between two calls of one member lies one call of each other member.
struct Group {
  std::vector<Candidate> members;  // in the order of their first calls
};

/// Returns the groups that recur until the end of the calls, longest period first.
std::vector<Group> groups_of(std::size_t symbols, const std::vector<Call>& calls);

/// Returns how many of equal calls follow each other without a long gap, if it is always the same number; else 1.
std::size_t calls_in_burst(const std::vector<Call>& equal);

}  // namespace profshim::loop
