#include "killed_jobs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/seen_trace.h"
#include "profshim/base/clock.h"

namespace profshim::e2e {

std::vector<std::string> spools() {
  std::vector<std::string> found;
  for (const std::string& file : files_below("/dev/shm")) {
    if (file.ends_with(".spool")) found.push_back("/dev/shm/" + file);
  }
  return found;
}

void remove_spools() {
  for (const std::string& left : spools()) unlink(left.c_str());
}

bool comes_true(const std::function<bool()>& condition, int most_seconds) {
  const std::int64_t until_ns = monotonic_ns() + std::int64_t{most_seconds} * 1'000'000'000;
  while (!condition()) {
    if (monotonic_ns() > until_ns) return false;
    usleep(2000);
  }
  return true;
}

bool records(const std::string& folder) {
  for (const std::string& file : files_below(folder)) {
    if (file.starts_with("manifest-") && json_member(text_of_file(folder + "/" + file), "state") == "active")
      return true;
  }
  return false;
}

Job endless(const ScratchFolder& scratch, const std::string& folder, const std::string& spec) {
  Job job{
      .command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "forever", "1", "500"}};
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write(folder + ".toml", spec));
  return job;
}

bool run_until(Job job, const std::function<bool()>& condition) {
  bool held = false;
  job.while_running = [&](int pid) {
    held = comes_true(condition);
    kill(pid, SIGKILL);
  };
  const Outcome outcome = run(job);
  EXPECT_TRUE(held) << outcome.err;
  return held && outcome.ending() == "signal 9";
}

}  // namespace profshim::e2e
