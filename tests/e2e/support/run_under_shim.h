#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// A job gets the tests' environment, minus PROFSHIM* variables, plus two of Open MPI, plus `environment`.
struct Job {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;  // working folder; "" = the tests' working folder
  std::string input;
  bool preload = true;
  std::function<void()> before_exec;           // in the child between fork and exec; must not allocate
  std::function<void(int pid)> while_running;  // in the parent, right after the start
};

struct Outcome {
  std::string out, err;
  int exit_status = -1;  // -1: did not exit
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  /// "exit 0", "signal 9" or "timed out".
  std::string ending() const;
  std::vector<std::string> shim_lines() const;
};
Outcome run(const Job& job);
struct Both {
  Outcome without, with;
};
Both run_both(Job job);
/// Expects exit status 0 and equal stdout.
void expect_same(const Both& both);
Job shell(const std::string& text);
/// Runs the profshim command without the library.
Outcome profshim(const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
