// Runs programs with and without the library preloaded.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// One program to run. The environment is ours, plus `environment`; PROFSHIM_* of ours are not handed on.
struct Job {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;                 // working folder; "" = ours
  std::string input;                  // what it reads on stdin
  bool preload = true;                // LD_PRELOAD of the library
  double limit_seconds = 60;          // then SIGKILL to its process group
  std::function<void()> before_exec;  // in the child, after fork, before exec (limits, closed streams); no allocation
  std::function<void(int pid)> while_running;  // in the parent, once, right after the start
};

struct Outcome {
  std::string out, err;
  int exit_status = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  /// "exit 0", "signal 9", "timed out": for comparing and printing.
  std::string ending() const;
  /// Lines of stderr that the library wrote.
  std::vector<std::string> shim_lines() const;
};
Outcome run(const Job& job);
struct Both {
  Outcome without, with;
};
/// Without the library, then with it.
Both run_both(Job job);
/// Both have ended with exit status 0 and printed the same.
void expect_same(const Both& both);
/// /bin/bash -c TEXT
Job shell(const std::string& text);
/// The tool with these arguments, not under the library.
Outcome profshim(const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
