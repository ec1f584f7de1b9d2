#include "launcher.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proc_text.h"
#include "profshim/base/files.h"
#include "profshim/base/process_identity.h"

namespace profshim {
namespace {

constexpr std::size_t kMostLevels = 16;

std::string file_of(int pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

bool was_given(int pid, const std::string& variable) {
  const auto environment = read_proc_texts(file_of(pid, "environ"));
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& text) { return text.starts_with(variable + "="); });
}

std::vector<std::string> arguments_of(int pid) { return read_proc_texts(file_of(pid, "cmdline")); }

/// Returns the script and its arguments, without the interpreter and its options.
std::vector<std::string> script_of(int pid) {
  auto arguments = arguments_of(pid);
  std::size_t at = 1;
  while (at < arguments.size() && arguments[at].starts_with("-") && arguments[at] != "-m") {
    at += arguments[at] == "-W" || arguments[at] == "-X" ? 2 : 1;
  }
  if (at >= arguments.size()) return {};
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at));
  arguments[0] = arguments[0].substr(arguments[0].rfind('/') + 1);
  return arguments;
}

/// True under Lightning: the user starts the first rank, which starts the others with the same script and LOCAL_RANK.
bool is_started_by_first_rank(int pid, int parent) {
  if (!was_given(pid, "LOCAL_RANK") || was_given(parent, "LOCAL_RANK")) return false;
  const auto script = script_of(pid);
  return !script.empty() && script == script_of(parent);
}

/// True for a child without exec, for the spawn and forkserver methods of Python's multiprocessing, and for joblib.
bool is_part_of(int pid, int parent) {
  const auto own = arguments_of(pid);
  if (own.empty()) return false;
  const bool is_spawned = std::any_of(own.begin(), own.end(), [](const std::string& argument) {
    return argument.find("multiprocessing.spawn") != std::string::npos ||
           argument.find("multiprocessing.forkserver") != std::string::npos ||
           argument.find("loky.backend.") != std::string::npos;
  });
  return is_spawned || own == arguments_of(parent) || is_started_by_first_rank(pid, parent);
}

/// True if one such process starts job after job.
bool starts_many_jobs(int pid) {
  static constexpr std::string_view kPrograms[] = {
      "sh",      "bash",    "dash", "ash",   "zsh",   "ksh",          "mksh",         "fish",   "tcsh",  "csh",
      "busybox", "pwsh",    "nu",   "xonsh", "sshd",  "sshd-session", "tmux: server", "screen", "login", "su",
      "sudo",    "systemd", "init", "tini",  "crond", "cron",         "atd",          "make",   "xargs", "parallel"};
  if (pid <= 1) return true;
  std::string name;
  int error = 0;
  if (!read_file(file_of(pid, "comm"), name, error)) return true;  // ended
  if (name.ends_with('\n')) name.pop_back();
  return std::find(std::begin(kPrograms), std::end(kPrograms), name) != std::end(kPrograms);
}

/// Skips wrappers such as `sh -c` and `timeout`, which have the rank's variable, too.
int parent_without(const std::string& variable) {
  int pid = getppid();
  for (std::size_t levels = 0; levels < kMostLevels && pid > 1 && was_given(pid, variable); ++levels) {
    const int parent = parent_process(pid);
    if (parent <= 1) break;
    pid = parent;
  }
  return pid;
}

int first_of_same_program() {
  int pid = getpid();
  for (std::size_t levels = 0; levels < kMostLevels; ++levels) {
    const int parent = parent_process(pid);
    if (parent <= 1 || !is_part_of(pid, parent)) break;
    pid = parent;
  }
  return pid;
}

}  // namespace

std::vector<int> programs_above() {
  std::vector<int> found;
  for (int pid = getppid(); !starts_many_jobs(pid) && found.size() < kMostLevels; pid = parent_process(pid))
    found.push_back(pid);
  return found;
}

Launcher launcher_of(const Rank& rank) {
  const std::string variable = rank_from_environment().source;
  const int first = first_of_same_program();
  if (variable.empty() && (first != getpid() || rank.world_size <= 1)) return {.pid = first, .program = first};
  // Ranks that the program numbers itself, such as actors of Ray, have a common parent.
  const int parent = variable.empty() ? getppid() : parent_without(variable);
  if (starts_many_jobs(parent)) return {.pid = getpid(), .program = first, .shell = parent};
  return {.pid = parent, .program = first};
}

}  // namespace profshim
