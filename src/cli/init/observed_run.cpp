#include "observed_run.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/find_library.h"
#include "cli/run/run.h"
#include "cli/traces/recover.h"
#include "cli/traces/trace_files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"

namespace profshim::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void set_environment(const std::string& folder, const std::string& program, const RunLimits& limits) {
  std::string why_not;
  const std::string library = find_library(why_not);
  if (library.empty()) throw std::runtime_error(why_not);
  SpecSources sources;
  // One window of limited size, whatever the job does; loading it takes a few seconds at most.
  for (const std::string& setting :
       {std::string("ranks.select=all"), std::string("steps.source=none"),
        "limits.window_seconds=" + fixed_text(limits.record_seconds, 3), std::string("limits.trace_size=64MiB"),
        std::string("output.gzip=false"), std::string("profile.log_level=quiet"),
        "output.folder=\"" + folder + "/{run_name}\""})
    sources.options.emplace_back("--set", setting);
  const LoadedSpec loaded = load_spec(sources);
  if (!loaded.ok()) throw std::runtime_error(to_line(loaded.problems.front()));
  sources.environment = sources_from_environment().environment;
  unsetenv("PROFSHIM_SPEC");
  prepare_environment(sources, loaded, library, program);
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

/// A command in a process group of its own. Its descendants become children of this process when they lose their
/// parent.
class Command {
 public:
  explicit Command(const std::vector<std::string>& words) {
    const sigset_t signals = watched_signals();
    sigprocmask(SIG_BLOCK, &signals, &before_);
    // A closed standard error must not end this process before its command.
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &pipe_before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0)
      throw std::runtime_error(std::string("cannot make a pipe: ") + error_text(errno));
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) become(arguments.data(), failure[1]);
    const int fork_error = errno;
    close(failure[1]);
    int error = pid_ < 0 ? fork_error : 0;
    if (pid_ > 0) setpgid(pid_, pid_);
    if (pid_ > 0 && read(failure[0], &error, sizeof error) != sizeof error) error = 0;
    close(failure[0]);
    if (error != 0) throw std::runtime_error(words[0] + ": " + error_text(error));
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() {
    stop();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  /// Waits up to 0.1 s. Returns a signal to this process that asks for its end; 0 = none.
  int wait_a_moment() {
    const sigset_t signals = watched_signals();
    const timespec moment = {0, 100'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &moment);
    reap();
    return signal > 0 && signal != SIGCHLD ? signal : 0;
  }
  bool has_ended() const { return ended_; }
  int status() const { return status_; }

  /// SIGTERM lets ranks end as they do in a batch system; after 10 s, SIGKILL.
  void stop() {
    constexpr double kGraceSeconds = 10;
    if (!has_children()) return;
    signal_all(SIGTERM);
    for (const Clock::time_point begin = Clock::now(); has_children() && seconds_since(begin) < kGraceSeconds;)
      wait_a_moment();
    while (has_children()) {
      signal_all(SIGKILL);
      wait_a_moment();
    }
  }

 private:
  [[noreturn]] void become(char** arguments, int failure) {
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    sigaction(SIGPIPE, &pipe_before_, nullptr);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    // A background process group that reads the terminal is stopped by SIGTTIN.
    if (isatty(STDIN_FILENO) == 1) {
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
    }
    execvp(arguments[0], arguments);
    const int error = errno;
    const ssize_t ignored = ::write(failure, &error, sizeof error);
    _exit(ignored > 0 ? 127 : 126);
  }

  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != pid_) continue;
      ended_ = true;
      status_ = status;
    }
  }
  static bool has_children() {
    siginfo_t info = {};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  }
  /// Also signals children in other process groups: those whose parent has ended, unless the command still runs.
  void signal_all(int signal) const {
    kill(-pid_, signal);
    if (!ended_) return;
    std::ifstream children("/proc/thread-self/children");
    for (std::string pid; children >> pid;) {
      if (const auto number = leading_number<pid_t>(pid); number > 0) kill(number, signal);
    }
  }

  sigset_t before_;
  struct sigaction pipe_before_ = {};
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

/// The manifests in the run folders below `folder`.
std::vector<run::Manifest> manifests_below(const std::string& folder) {
  std::vector<run::Manifest> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::vector<run::Manifest> own = run::read_manifests(entry.path());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

bool all_written(const std::vector<run::Manifest>& manifests) {
  return std::all_of(manifests.begin(), manifests.end(),
                     [](const run::Manifest& manifest) { return !manifest.windows.empty(); });
}

void note_mpi(const std::vector<run::Manifest>& manifests, std::string& mpi) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKnown = {{{"/libmpi.so.40", "Open MPI"},
                                                                                    {"/libmpi.so.80", "Open MPI"},
                                                                                    {"/libmpich.so", "MPICH"},
                                                                                    {"/libmpi.so.12", "MPICH"}}};
  if (manifests.empty() || !mpi.empty()) return;
  std::ifstream maps("/proc/" + std::to_string(manifests[0].pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    for (const auto& [file, name] : kKnown) {
      if (line.find(file) != std::string::npos) mpi = name;
    }
  }
}

/// Watches until the windows are written, the command ends or a limit is reached.
void watch(Command& command, const std::string& folder, const RunLimits& limits, ObservedRun& run) {
  constexpr double kWriteSeconds = 20;  // for traces, after the recording
  const Clock::time_point begin = Clock::now();
  Clock::time_point recording = {};
  while (!command.has_ended()) {
    run.interrupted = command.wait_a_moment() != 0;
    const std::vector<run::Manifest> manifests = manifests_below(folder);
    note_mpi(manifests, run.mpi);
    const bool records = !manifests.empty();
    if (records && recording == Clock::time_point()) recording = Clock::now();
    const double recorded = records ? seconds_since(recording) : 0;
    if (run.interrupted || (!records && seconds_since(begin) >= limits.start_seconds)) return;
    if (records && recorded >= limits.record_seconds && all_written(manifests)) return;
    if (recorded >= limits.record_seconds + kWriteSeconds) return;
  }
}

std::string ending_of(const Command& command, double seconds) {
  const int status = command.status();
  if (!command.has_ended()) return "stopped after " + fixed_text(seconds, 0) + " s";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ObservedRun observe(const std::vector<std::string>& words, const std::string& folder, const RunLimits& limits) {
  set_environment(folder, words[0], limits);
  ObservedRun run;
  {
    const Clock::time_point begin = Clock::now();
    Command command(words);
    watch(command, folder, limits, run);
    run.ended = command.has_ended();
    run.failed = run.ended && command.status() != 0;
    run.ending = ending_of(command, seconds_since(begin));
  }
  unsetenv("LD_PRELOAD");
  std::vector<std::string> unread;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::vector<RecoverNote> notes;
    recover_quietly(entry.path(), 0, notes);
    if (run::launch_of(entry.path()).starts_with("ray-")) run.launcher = "Ray";
  }
  run.traces = traces_below(folder, unread);
  return run;
}

}  // namespace profshim::cli
