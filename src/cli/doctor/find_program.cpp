#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "doctor.h"

namespace profshim::cli::doctor {
namespace {

struct Launcher {
  std::string_view name;
  std::vector<std::string_view> with_value;
  std::vector<std::string_view> with_two_values;
  bool python_script = false;
};

const std::vector<std::string_view> kMpirunOptions = {"-n",
                                                      "-np",
                                                      "-c",
                                                      "--n",
                                                      "--np",
                                                      "-N",
                                                      "-npernode",
                                                      "--npernode",
                                                      "-H",
                                                      "-host",
                                                      "--host",
                                                      "-hosts",
                                                      "-hostfile",
                                                      "--hostfile",
                                                      "-f",
                                                      "-machinefile",
                                                      "--machinefile",
                                                      "-ppn",
                                                      "--map-by",
                                                      "-map-by",
                                                      "--bind-to",
                                                      "-bind-to",
                                                      "--rank-by",
                                                      "-x",
                                                      "-wdir",
                                                      "--wdir",
                                                      "-wd",
                                                      "-rf",
                                                      "--rankfile",
                                                      "-env",
                                                      "-envlist",
                                                      "-iface",
                                                      "-launcher",
                                                      "--prefix",
                                                      "--tag",
                                                      "-am",
                                                      "--timeout",
                                                      "--output-filename",
                                                      "-output-filename",
                                                      "--cpus-per-proc",
                                                      "--pernode-n",
                                                      "-profile",
                                                      "-usize"};

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> list = {
      {"mpirun", kMpirunOptions, {"--mca", "-mca", "-genv", "-gmca", "--gmca"}},
      {"mpiexec", kMpirunOptions, {"--mca", "-mca", "-genv", "-gmca", "--gmca"}},
      {"orterun", kMpirunOptions, {"--mca", "-mca"}},
      {"srun", {"-n", "-N", "-c", "-p", "-A", "-t", "-w", "-x", "-J", "-o", "-e", "-D", "-G"}, {}},
      {"torchrun", {"-m", "-t", "-r"}, {}, true},
      {"env", {"-u", "-C", "-S"}, {}},
      {"nice", {"-n"}, {}},
      {"taskset", {}, {}},
      {"numactl", {"-N", "-m", "-C", "-i", "-p"}, {}},
      {"timeout", {"-s", "-k"}, {}},
      {"setsid", {}, {}},
      {"stdbuf", {"-i", "-o", "-e"}, {}},
      {"time", {"-f", "-o"}, {}},
  };
  return list;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Also matches "mpirun.openmpi".
const Launcher* launcher_named(const std::string& path) {
  const std::string name = base_name(path);
  for (const Launcher& launcher : launchers())
    if (name == launcher.name || name.rfind(std::string(launcher.name) + ".", 0) == 0) return &launcher;
  return nullptr;
}

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string on_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return is_executable_file(word) ? word : "";
  std::istringstream folders(getenv("PATH") != nullptr ? getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + word;
    if (is_executable_file(path)) return path;
  }
  return "";
}

bool contains(const std::vector<std::string_view>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char mark[2] = {};
  if (!file.read(mark, 2) || mark[0] != '#' || mark[1] != '!') return {};
  std::string line;
  std::getline(file, line);
  std::vector<std::string> words;
  std::istringstream text(line.substr(0, 4096));
  for (std::string word; text >> word;) words.push_back(word);
  if (words.size() > 1 && base_name(words[0]) == "env") {
    words.erase(words.begin());
    while (words.size() > 1 && words[0][0] == '-') words.erase(words.begin());
  }
  return words;
}

// torchrun runs scripts with its own interpreter.
std::string python_of(const std::string& launcher_path) {
  const std::vector<std::string> interpreter = interpreter_of(launcher_path);
  return interpreter.empty() ? "python3" : interpreter[0];
}

std::vector<std::string> behind_launcher(const Launcher& launcher, const std::string& path,
                                         const std::vector<std::string>& command) {
  std::size_t at = 1;
  for (; at < command.size(); ++at) {
    const std::string& word = command[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (launcher.python_script && word == "-m") return {python_of(path)};
    if (contains(launcher.with_two_values, word)) {
      at += 2;
    } else if (contains(launcher.with_value, word)) {
      ++at;
    } else if (word[0] == '-' || (word.find('=') != std::string::npos && launcher.name == "env")) {
      continue;  // option without a value, --name=value, or variable
    } else if (on_path(word).empty() && !launcher.python_script) {
      continue;  // value of an unknown option, CPU mask, or duration
    } else {
      break;
    }
  }
  std::vector<std::string> rest(command.begin() + static_cast<std::ptrdiff_t>(std::min(at, command.size())),
                                command.end());
  if (launcher.python_script && !rest.empty()) rest.insert(rest.begin(), python_of(path));
  return rest;
}

std::string script_of(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size() && command[i] != "-m" && command[i] != "-c"; ++i) {
    struct stat status {};
    if (command[i][0] == '-' || stat(command[i].c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    return access(command[i].c_str(), R_OK) == 0 ? command[i] : "";
  }
  return "";
}

}  // namespace

Program find_program(const std::vector<std::string>& command) {
  Program program;
  std::vector<std::string> rest = command;
  // The loop is bounded: a #! line may name its own file.
  for (int depth = 0; depth < 16 && !rest.empty(); ++depth) {
    const std::string path = on_path(rest[0]);
    if (path.empty()) {
      program.problem =
          rest[0] + " is not an executable file" + (rest[0].find('/') == std::string::npos ? " on PATH" : "");
      return program;
    }
    if (const Launcher* launcher = launcher_named(rest[0])) {
      program.behind.push_back(path);
      rest = behind_launcher(*launcher, path, rest);
      continue;
    }
    const std::vector<std::string> interpreter = interpreter_of(path);
    if (interpreter.empty()) {
      program.path = path;
      const std::string name = base_name(path);
      if (program.script.empty() && name.rfind("python", 0) == 0) program.script = script_of(rest);
      return program;
    }
    program.behind.push_back(path);
    program.script = path;
    rest = {interpreter[0]};
  }
  program.problem = rest.empty() ? command[0] + ": no program after the launcher's options"
                                 : command[0] + ": too many nested launchers and scripts";
  return program;
}

}  // namespace profshim::cli::doctor
