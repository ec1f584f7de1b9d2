#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "unit/spec/bad_specs.h"

namespace profshim::test {

struct ToolRun {
  int status = -1;  // exit status, or 128 + signal
  std::string out, err;
};

inline ToolRun run_shell(const std::string& script, const std::filesystem::path& folder = "/tmp") {
  char name[] = "/tmp/profshim-tool-XXXXXX";
  const std::filesystem::path scratch = mkdtemp(name);
  const std::string command = "cd '" + folder.string() + "' && PATH='" PROFSHIM_BUILD_DIR "':\"$PATH\" && { " + script +
                              "\n} >'" + (scratch / "out").string() + "' 2>'" + (scratch / "err").string() + "'";
  const int status = std::system(command.c_str());
  ToolRun run;
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_all(scratch / "out");
  run.err = read_all(scratch / "err");
  std::filesystem::remove_all(scratch);
  return run;
}

}  // namespace profshim::test
