#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profshim/loop.h"

namespace profshim::loop {

/// Writes the calls of a job. Names that begin with "opt" are optimizers, with "MPI" collectives, with "[" ranges.
/// "MPI_Send to 1" is a message.
class Job {
 public:
  Job& call(const std::string& name, std::int64_t us = 10) {
    const auto [at, is_new] = ids_.emplace(name, sequence_.symbols.size());
    if (is_new) sequence_.symbols.push_back(symbol_of(name));
    sequence_.calls.push_back({static_cast<std::uint32_t>(at->second), now_, now_ + us * 1000});
    now_ += (us + 1) * 1000;
    return *this;
  }
  Job& pause(std::int64_t us) {
    now_ += us * 1000;
    return *this;
  }
  Job& calls(const std::vector<std::string>& names, std::int64_t us = 10) {
    for (const std::string& name : names) call(name, us);
    return *this;
  }
  Job& seconds_of_batches(std::int64_t seconds) {
    while (now_ < seconds * 1'000'000'000) calls({"load", "linear", "relu", "argmax"}, 10'000);
    return *this;
  }
  Job& train_batch() { return calls({"load", "linear", "relu", "linear", "loss", "backward", "grad", "grad", "opt"}); }
  Job& evaluation_batch() { return calls({"load", "linear", "relu", "linear", "argmax", "eq", "sum"}); }

  /// Returns "NAME x EVERY, N cycles" of the chosen level.
  std::string steps() const {
    const Finding finding = find_loop(sequence_);
    if (!finding.chosen) return "none";
    const Level& level = finding.levels[*finding.chosen];
    return sequence_.symbols[level.boundary.symbol].name + " x " + std::to_string(level.boundary.every) + ", " +
           std::to_string(level.cycles) + " cycles";
  }
  const Sequence& sequence() const { return sequence_; }
  Confidence confidence() const { return find_loop(sequence_).confidence; }
  /// `seconds`: since the first call; 0 = as long as the calls took. `waited`: of these, for a CPU.
  bool is_settled(std::int64_t seconds = 0, std::int64_t waited = 0) const {
    const std::int64_t elapsed_ns = seconds != 0 ? seconds * 1'000'000'000 : now_;
    return loop::is_settled(sequence_, find_loop(sequence_), elapsed_ns, waited * 1'000'000'000);
  }

 private:
  static Symbol symbol_of(const std::string& name) {
    if (name.starts_with("opt")) return {CallKind::kOptimizer, name};
    if (name.starts_with("[")) return {CallKind::kNvtxRange, name};
    if (name.starts_with("enumerate(")) return {CallKind::kTorchRange, name};
    if (const std::size_t to = name.find(" to "); to != std::string::npos)
      return {CallKind::kMessage, name.substr(0, to), std::stoi(name.substr(to + 4))};
    return {name.starts_with("MPI") ? CallKind::kCollective : CallKind::kOperator, name};
  }

  std::map<std::string, std::size_t> ids_;
  Sequence sequence_;
  std::int64_t now_ = 0;
};

}  // namespace profshim::loop
