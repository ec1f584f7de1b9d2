#include "run_under_shim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <sstream>

#include "built_programs.h"
#include "machine/sanitizer.h"
#include "profshim/trace/reader.h"

extern char** environ;

namespace profshim::e2e {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A job that takes longer gets SIGTERM, and 5 s later its process group gets SIGKILL. Jobs take up to a minute, on a
/// busy machine some minutes.
constexpr double kHangs_s = 600;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

std::vector<std::string> environment_of(const Job& job) {
  std::map<std::string, std::string> variables = {
      // Open MPI chooses "ob1" in any case, but first it loads PSM2, which waits for 250 ms while it measures a clock.
      {"OMPI_MCA_pml", "ob1"},
      // Ranks that wait leave the cores to those that do not.
      {"OMPI_MCA_mpi_yield_when_idle", "1"}};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (name.rfind("PROFSHIM", 0) == 0 || name == "LD_PRELOAD" || name.find("_INJECTION64_PATH") != std::string::npos)
      continue;
    variables[name] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : job.environment) variables[name] = value;
  if (job.preload) variables.try_emplace("LD_PRELOAD", sanitizer_preload() + shim_path());
  // For all programs of a pass, as `make test-locale` needs it. The dynamic linker ignores an empty name.
  if (const char* const also = getenv("TESTS_PRELOAD")) {
    std::string& libraries = variables["LD_PRELOAD"];
    libraries = also + (":" + libraries);
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

[[noreturn]] void become(const Job& job, char* const* arguments, char* const* variables, const Pipe& in,
                         const Pipe& out, const Pipe& err) {
  setpgid(0, 0);
  dup2(in.read, 0);
  dup2(out.write, 1);
  dup2(err.write, 2);
  if (!job.folder.empty() && chdir(job.folder.c_str()) != 0) _exit(127);
  // Tests in the background of a shell inherit ignored signals.
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) signal(number, SIG_DFL);
  if (job.before_exec) job.before_exec();
  execvpe(arguments[0], arguments, variables);
  _exit(127);
}

bool read_some(Pipe& out, Pipe& err, Outcome& outcome, int timeout_ms) {
  pollfd fds[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
  if (out.read < 0 && err.read < 0) return false;
  poll(fds, 2, timeout_ms);
  const auto take = [](const pollfd& fd, int& end, std::string& text) {
    if (end < 0 || fd.revents == 0) return;
    char buffer[65536];
    const ssize_t got = ::read(end, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got == 0) Pipe::close_end(end);
  };
  take(fds[0], out.read, outcome.out);
  take(fds[1], err.read, outcome.err);
  return true;
}

}  // namespace

std::string Outcome::ending() const {
  if (timed_out) return "timed out";
  return signal != 0 ? "signal " + std::to_string(signal) : "exit " + std::to_string(exit_status);
}

std::vector<std::string> Outcome::shim_lines() const {
  std::vector<std::string> lines;
  std::stringstream text(err);
  for (std::string line; std::getline(text, line);)
    if (line.rfind("profshim: ", 0) == 0) lines.push_back(line);
  return lines;
}

Outcome run(const Job& job) {
  Outcome outcome;
  std::vector<std::string> entries = environment_of(job), words = job.command;
  std::vector<char*> variables, arguments;
  for (auto& entry : entries) variables.push_back(entry.data());
  for (auto& word : words) arguments.push_back(word.data());
  variables.push_back(nullptr);
  arguments.push_back(nullptr);

  Pipe in, out, err;
  const auto start = SteadyClock::now();
  const pid_t pid = fork();
  if (pid == 0) become(job, arguments.data(), variables.data(), in, out, err);
  Pipe::close_end(in.read);
  Pipe::close_end(out.write);
  Pipe::close_end(err.write);
  signal(SIGPIPE, SIG_IGN);
  (void)!::write(in.write, job.input.data(), job.input.size());  // fits into the pipe
  Pipe::close_end(in.write);
  if (job.while_running) job.while_running(pid);

  int status = 0;
  bool ended = false;
  double asked_at = 0;
  SteadyClock::time_point ended_at{};
  while (true) {
    const bool open = read_some(out, err, outcome, 20);
    if (!ended && waitpid(pid, &status, open ? WNOHANG : 0) == pid) ended = true, ended_at = SteadyClock::now();
    if (ended && !open) break;
    // A child that outlives the job may hold the streams open.
    if (ended && seconds_since(ended_at) > 5) break;
    const double elapsed = seconds_since(start);
    if (!ended && elapsed > kHangs_s) {
      // SIGTERM lets a launcher end its ranks.
      if (!outcome.timed_out) kill(pid, SIGTERM), asked_at = elapsed;
      if (elapsed > asked_at + 5) kill(-pid, SIGKILL);
      outcome.timed_out = true;
    }
  }
  outcome.seconds = seconds_since(start);
  if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

Both run_both(Job job) {
  Both both;
  job.preload = false;
  both.without = run(job);
  job.preload = true;
  both.with = run(job);
  return both;
}

void expect_same(const Both& both) {
  EXPECT_EQ(both.without.ending(), "exit 0") << both.without.err;
  EXPECT_EQ(both.with.ending(), "exit 0") << both.with.err;
  EXPECT_EQ(both.with.out, both.without.out) << both.with.err;
}

Job shell(const std::string& text) { return Job{.command = {"/bin/bash", "-c", text}}; }

Outcome profshim(const std::vector<std::string>& arguments) {
  Job job{.command = {tool_path()}, .preload = false};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  return run(job);
}

}  // namespace profshim::e2e
