#include "built_programs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace profshim::e2e {
namespace {

// The environment variable TESTED_BUILD names the folder of another library and command, such as `make portable`'s.
std::string tested_folder() {
  const char* const folder = getenv("TESTED_BUILD");
  return folder != nullptr ? folder : PROFSHIM_BUILD_DIR;
}

}  // namespace

std::string shim_path() { return tested_folder() + "/libprofshim.so"; }
std::string tool_path() { return tested_folder() + "/profshim"; }

std::string built(const std::string& relative) {
  const std::string path = PROFSHIM_SOURCE_DIR "/build/" + relative;
  EXPECT_TRUE(std::filesystem::exists(path)) << path << " is not built: make test-apps";
  return path;
}

std::string why_no_job_of(unsigned user) {
  if (geteuid() != 0) return "only root can start a job of another user";
  const pid_t pid = fork();
  if (pid == 0) _exit(setgid(user) == 0 && setuid(user) == 0 && access(shim_path().c_str(), R_OK) == 0 ? 0 : 1);
  int status = -1;
  waitpid(pid, &status, 0);
  return status == 0 ? "" : "another user cannot read " + shim_path();
}

bool on_path(const std::string& name) {
  std::stringstream folders(getenv("PATH") ? getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace profshim::e2e
