#pragma once

#include <set>
#include <string>
#include <vector>

namespace profshim::cli {

struct RunLimits {
  double record_seconds = 10;  // from the first rank that records
  double start_seconds = 60;   // until a rank records
};

struct ObservedRun {
  std::vector<std::string> traces;
  std::string launcher;      // "Ray" if it started a process that recorded
  std::string mpi;           // "Open MPI" or "MPICH", seen in the processes that recorded
  bool ended = false;        // false: the command was stopped
  bool failed = false;       // it ended with another status than 0
  bool interrupted = false;  // by a signal to this process
  std::string ending;        // "exit 0", "signal 11", "stopped after 10 s"
};

/// Runs a command with the library and records all ranks into `folder`, without steps. Its standard output goes to
/// standard error. Then stops all of its processes. Throws std::runtime_error if it cannot be started.
ObservedRun observe(const std::vector<std::string>& command, const std::string& folder, const RunLimits& limits);

}  // namespace profshim::cli
