// Finds the loop of a job in the calls of one thread. Pure computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profshim::loop {

enum class CallKind : std::uint8_t { kOptimizer, kRange, kForward, kCollective, kMessage, kLaunch, kOperator };

struct Symbol {
  CallKind kind{};
  std::string name;
  std::int64_t peer = -1;  // of a message: tells exchanges with several neighbors apart
};

struct Call {
  std::uint32_t symbol = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// A point of the loop: each `every`-th call of the name of `symbol`, with any peer, counted from its first call.
struct Boundary {
  std::uint32_t symbol = 0;
  std::optional<std::uint32_t> previous;  // counts only calls that follow a call of this symbol
  std::uint32_t every = 1;
  bool at_end = false;
};

/// One of the nested loops.
struct Level {
  Boundary boundary;
  std::size_t cycles = 0;      // whole cycles seen
  std::size_t deviations = 0;  // cycles with other calls than usual
  double period_ns = 0;        // median
  std::size_t calls = 0;       // in a usual cycle
};

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };

struct Finding {
  std::vector<Level> levels;          // shortest period first
  std::optional<std::size_t> chosen;  // index of the level that makes the steps
  Confidence confidence{};
};

/// `calls` are sorted by begin_ns.
Finding find_loop(const std::vector<Symbol>& symbols, const std::vector<Call>& calls);

}  // namespace profshim::loop
