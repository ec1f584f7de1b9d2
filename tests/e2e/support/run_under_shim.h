// Runs programs with and without the library preloaded.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// One program to run. It inherits the environment of the tests except PROFSHIM*; `environment` is added.
struct Job {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;                 // working folder; "" = that of the tests
  std::string input;                  // stdin
  bool preload = true;                // LD_PRELOAD of the library
  double limit_seconds = 60;          // after this SIGTERM; 5 s later SIGKILL to its process group
  std::function<void()> before_exec;  // in the child, after fork, before exec (limits, closed streams); no allocation
  std::function<void(int pid)> while_running;  // in the parent, once, right after the start
};

struct Outcome {
  std::string out, err;
  int exit_status = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  /// Returns "exit 0", "signal 9" or "timed out".
  std::string ending() const;
  /// Returns the lines of stderr that the library wrote.
  std::vector<std::string> shim_lines() const;
};
Outcome run(const Job& job);
struct Both {
  Outcome without, with;
};
/// Runs the job without the library, then with it.
Both run_both(Job job);
/// Expects that both ended with exit status 0 and printed the same.
void expect_same(const Both& both);
/// Returns a job that runs `/bin/bash -c TEXT`.
Job shell(const std::string& text);
/// Runs the tool with these arguments, not under the library.
Outcome profshim(const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
