#include "readers.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace profshim::e2e {

std::string readers_python() { return PROFSHIM_SOURCE_DIR "/build/venv-consumers/bin/python"; }

Outcome ask_reader(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string python = readers_python();
  EXPECT_TRUE(std::filesystem::exists(python)) << "no Python for the readers: scripts/consumers_venv.sh";
  Job job{.command = {python, PROFSHIM_SOURCE_DIR "/tests/e2e/consumers/" + script}, .preload = false};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  return run(job);
}

}  // namespace profshim::e2e
