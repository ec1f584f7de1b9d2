#include "run_under_shim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "profshim/trace/reader.h"
#include "sanitizer.h"

extern char** environ;

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

// Spools may lie in /dev/shm, which other processes of this machine use too. Where we may, we take one of our own, so
// that "nothing is left behind" is about us alone.
class OwnSharedMemory : public testing::Environment {
 public:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0) return;  // not root: shared with others, who do not use our names
    // Below a chroot, "/" is no mount of its own.
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 &&
        mount("none", "/dev/shm", nullptr, MS_PRIVATE, nullptr) != 0) {
      return;
    }
    (void)!mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
  }
};
[[maybe_unused]] auto* const own_shared_memory = testing::AddGlobalTestEnvironment(new OwnSharedMemory);

// Another build may be under test, that of `make portable`.
std::string tested_folder() {
  const char* const folder = getenv("TESTED_BUILD");
  return folder != nullptr ? folder : PROFSHIM_BUILD_DIR;
}

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

std::vector<std::string> environment_of(const Job& job) {
  std::map<std::string, std::string> variables;
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
  // A shell that starts the tests in the background has them ignore what a terminal sends.
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) signal(number, SIG_DFL);
  if (job.before_exec) job.before_exec();
  execvpe(arguments[0], arguments, variables);
  _exit(127);
}

// Reads what is there; false when both ends are closed.
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

std::string shim_path() { return tested_folder() + "/libprofshim.so"; }
std::string tool_path() { return tested_folder() + "/profshim"; }

std::string built(const std::string& relative) {
  const std::string path = PROFSHIM_SOURCE_DIR "/build/" + relative;
  EXPECT_TRUE(fs::exists(path)) << path << " is not built: make test-apps";
  return path;
}

bool on_path(const std::string& name) {
  std::stringstream folders(getenv("PATH") ? getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "profshim-e2e-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("no scratch folder: " + std::string(strerror(errno)));
  path_ = pattern;
}
ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path.string();
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path().lexically_relative(folder).string());
  std::sort(found.begin(), found.end());
  return found;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

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
  (void)!::write(in.write, job.input.data(), job.input.size());  // small: fits the pipe
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
    // A background child may hold the streams for longer than we care.
    if (ended && seconds_since(ended_at) > 5) break;
    const double elapsed = seconds_since(start);
    if (!ended && elapsed > job.limit_seconds) {
      // A launcher takes its ranks along when it is asked; who does not listen is killed.
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

// ---- traces
// ----------------------------------------------------------------------------------------------------------

namespace {

std::string text_of(const ReadEvent::ReadArg& arg) {
  using Kind = ReadEvent::ReadArg::Kind;
  switch (arg.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return arg.integer != 0 ? "true" : "false";
    case Kind::kInt:
      return std::to_string(arg.integer);
    case Kind::kDouble: {
      std::ostringstream text;
      text << arg.number;
      return text.str();
    }
    default:
      return std::string(arg.text);
  }
}

SeenEvent seen(const ReadEvent& event) {
  SeenEvent e;
  e.phase = event.phase;
  e.category = event.category;
  e.name = event.name;
  e.pid = event.pid;
  e.tid = event.tid;
  e.ts_ns = event.ts_ns;
  e.duration_ns = event.duration_ns;
  e.id = event.id;
  for (const auto& arg : event.args) e.args[std::string(arg.key)] = text_of(arg);
  return e;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

SeenTrace read_seen(const std::string& path) {
  SeenTrace trace;
  trace.path = path;
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) {
    trace.metadata[std::string(key)] = std::string(json);
  };
  visitor.event = [&](const ReadEvent& event) {
    trace.events.push_back(seen(event));
    return true;
  };
  const ReadResult result = read_trace(path, visitor);
  trace.readable = result.ok;
  trace.error = result.error;
  return trace;
}

std::vector<std::string> traces_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& file : files_below(folder)) {
    const std::string name = fs::path(file).filename().string();
    if (name[0] != '.' && name.rfind("manifest-", 0) != 0 && (ends_with(name, ".json") || ends_with(name, ".json.gz")))
      paths.push_back(folder + "/" + file);
  }
  return paths;
}

std::vector<SeenTrace> read_folder(const std::string& folder) {
  std::vector<SeenTrace> traces;
  for (const std::string& path : traces_below(folder)) traces.push_back(read_seen(path));
  return traces;
}

int SeenTrace::rank() const {
  const auto info = metadata.find("distributedInfo");
  if (info == metadata.end()) return -1;
  const std::string rank = json_member(info->second, "rank");
  return rank.empty() ? -1 : std::stoi(rank);
}

std::vector<const SeenEvent*> SeenTrace::calls(const std::string& name) const {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& e : events)
    if (e.phase == "X" && e.name == name) found.push_back(&e);
  return found;
}

std::map<std::string, int> SeenTrace::counts(const std::string& category) const {
  std::map<std::string, int> counts;
  for (const SeenEvent& e : events) {
    if (e.phase != "X" || (!category.empty() && e.category != category)) continue;
    if (e.name != "MPI polling") {
      ++counts[e.name];
      continue;
    }
    for (const auto& [key, value] : e.args)
      if (key.rfind("MPI_", 0) == 0) counts[key] += std::stoi(value);
  }
  return counts;
}

std::vector<std::int64_t> SeenTrace::steps() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const SeenEvent& e : events)
    if (e.phase == "X" && e.name.rfind("ProfilerStep#", 0) == 0)
      found.emplace_back(e.ts_ns, std::stoll(e.name.substr(13)));
  std::sort(found.begin(), found.end());
  std::vector<std::int64_t> steps;
  for (const auto& [ts, step] : found)
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  return steps;
}

std::string SeenTrace::fact(const std::string& key) const {
  const auto object = metadata.find("profshim");
  return object == metadata.end() ? "" : json_member(object->second, key);
}

std::string json_member(const std::string& object, const std::string& key) {
  rapidjson::Document document;
  document.Parse(object.c_str(), object.size());
  if (document.HasParseError() || !document.IsObject() || !document.HasMember(key.c_str())) return "";
  const auto& value = document[key.c_str()];
  if (value.IsString()) return value.GetString();
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  value.Accept(writer);
  return text.GetString();
}

// ---- MPI
// -------------------------------------------------------------------------------------------------------------

std::string to_string(Mpi mpi) { return mpi == Mpi::kOpenMpi ? "openmpi" : "mpich"; }

Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command) {
  Job job;
  job.limit_seconds = 120;
  if (mpi == Mpi::kOpenMpi) {
    job.command = {"mpirun.openmpi", "--oversubscribe", "--bind-to", "none"};
    // One machine: no network. Copying straight from process to process stays on: without it there are no RMA windows.
    job.environment = {{"OMPI_MCA_btl", "self,vader"}};
    if (geteuid() == 0) {
      job.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
      job.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
  } else {
    job.command = {"mpirun.mpich"};
    job.environment = {{"HYDRA_IFACE", "lo"}};  // else it asks the DNS for this machine's own name
  }
  job.command.push_back("-n");
  job.command.push_back(std::to_string(ranks));
  job.command.insert(job.command.end(), command.begin(), command.end());
  return job;
}

std::vector<Mpi> installed_mpis() {
  std::vector<Mpi> found;
  if (on_path("mpirun.openmpi")) found.push_back(Mpi::kOpenMpi);
  if (on_path("mpirun.mpich")) found.push_back(Mpi::kMpich);
  EXPECT_FALSE(found.empty()) << "no mpirun.openmpi and no mpirun.mpich: scripts/install_deps.sh --test";
  return found;
}

std::map<int, std::map<std::string, int>> printed_counts(const std::string& out) {
  std::map<int, std::map<std::string, int>> counts;
  std::stringstream text(out);
  for (std::string line; std::getline(text, line);) {
    rapidjson::Document d;
    d.Parse(line.c_str(), line.size());
    if (d.HasParseError() || !d.IsObject() || !d.HasMember("rank") || !d.HasMember("function") || !d.HasMember("count"))
      continue;
    counts[d["rank"].GetInt()][d["function"].GetString()] += d["count"].GetInt();
  }
  return counts;
}

std::string record_all_spec(const std::string& folder) {
  return "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"none\"\n[output]\nfolder = \"" + folder +
         "\"\ngzip = false\n";
}

}  // namespace profshim::e2e
