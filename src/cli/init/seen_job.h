// The facts about a job that its traces show.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profshim/analysis/trace_loop.h"

namespace profshim::cli {

struct SeenLoop {
  StepMarker marker;  // no source: nothing marks the steps
  std::string begins_at;
  double period_ns = 0;
  std::size_t steps = 0;       // seen
  std::size_t most_steps = 0;  // of the rank with the most markers: a master has those of all its workers
  double bytes_per_step = 0;   // of a trace
  loop::Confidence confidence{};
  /// Ranks that have nearly all of these steps; empty = all that were looked at.
  std::vector<int> ranks;
};

struct SeenJob {
  std::string command, launcher;     // launcher: "mpirun"; "" = none seen
  std::set<std::string> frameworks;  // "PyTorch 1.13.0", "MPICH"
  int world_size = -1;
  std::size_t groups = 1;  // of processes; the other members are about the largest group
  bool to_its_end = true;  // false: the job went on after the recording
  std::optional<SeenLoop> loop;
  bool has_trace = false;
};

/// Returns the launcher that the words of a command name; "" = none.
std::string launcher_of(const std::vector<std::string>& words);

/// Throws std::runtime_error if a file is not a trace or has no events.
SeenJob look_at_traces(const std::vector<std::string>& files);

}  // namespace profshim::cli
