// Who this process is in its job, by what launchers and schedulers put into the environment.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "profshim/base.h"

namespace profshim {
namespace {

// In the order of trust. Slurm sets SLURM_PROCID in the batch script as well; only a real step has a numeric step id.
struct Launcher {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;
  const char* node_rank;
};
constexpr std::array<Launcher, 9> kLaunchers = {{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     nullptr},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", nullptr, nullptr},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr},
    {"PALS_RANKID", nullptr, "PALS_LOCAL_RANKID", nullptr, "PALS_NODEID"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", nullptr},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", nullptr, nullptr},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE", nullptr},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_NODEID"},
}};

int number_in(const char* variable) {
  const char* text = variable != nullptr ? std::getenv(variable) : nullptr;
  if (text == nullptr || *text == 0) return -1;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  return *end == 0 && errno == 0 && value >= 0 && value <= 0x7fffffff ? static_cast<int>(value) : -1;
}

bool usable(const Launcher& launcher) {
  if (number_in(launcher.rank) < 0) return false;
  return std::strcmp(launcher.rank, "SLURM_PROCID") != 0 || number_in("SLURM_STEP_ID") >= 0;
}

void fill(int& value, const char* variable) {
  if (value < 0) value = number_in(variable);
}

/// What shows in the rest, and the host.
void fill_in(Rank& rank) {
  if (rank.node_rank < 0 && rank.world_size > 0 && rank.world_size == rank.local_world_size) rank.node_rank = 0;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  rank.host = host;
}

// Fields 1 and 2 of /proc/PID/stat may hold blanks and brackets; what we want lies behind the last bracket. The dot:
// qemu's user mode makes up this file for the process itself (linux-user/syscall.c, is_proc_myself), with another start
// time than everybody else reads.
std::string stat_fields(int pid) {
  std::string text;
  int error = 0;
  if (!read_file("/proc/./" + std::to_string(pid) + "/stat", text, error)) return {};
  const std::size_t bracket = text.rfind(')');
  return bracket == std::string::npos ? std::string{} : text.substr(bracket + 1);
}

int parent_of(int pid) {
  const std::string fields = stat_fields(pid);
  return fields.size() > 3 ? std::atoi(fields.c_str() + 3) : 0;  // " S PPID ..."
}

// Seconds since the epoch at which the kernel says it booted: the same for every process, unlike a difference of
// clocks.
std::int64_t boot_time_s() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/stat", text, error)) return 0;
  const std::size_t at = text.find("\nbtime ");
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 7, nullptr, 10);
}

/// Texts that each end with a zero byte, as /proc has them.
std::vector<std::string> texts_in(const std::string& path) {
  std::string text;
  int error = 0;
  std::vector<std::string> found;
  if (!read_file(path, text, error)) return found;
  for (std::size_t at = 0; at < text.size(); at += found.back().size() + 1) found.emplace_back(text.c_str() + at);
  return found;
}

/// In the environment that it began with.
bool was_given(const std::string& pid, const std::string& variable) {
  const auto environment = texts_in("/proc/" + pid + "/environ");
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& text) { return text.starts_with(variable + "="); });
}

/// Its arguments without those of the interpreter, the script without its folder.
std::vector<std::string> script_of(const std::string& pid) {
  auto arguments = texts_in("/proc/" + pid + "/cmdline");
  std::size_t at = 1;
  while (at < arguments.size() && arguments[at].starts_with("-") && arguments[at] != "-m") {
    at += arguments[at] == "-W" || arguments[at] == "-X" ? 2 : 1;
  }
  if (at >= arguments.size()) return {};
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at));
  arguments[0] = arguments[0].substr(arguments[0].rfind('/') + 1);
  return arguments;
}

/// Lightning's first rank is what the user has started. It starts the others as itself, and gives them the LOCAL_RANK
/// that it has not been given.
bool is_started_by_first_rank(const std::string& parent) {
  if (!was_given("self", "LOCAL_RANK") || was_given(parent, "LOCAL_RANK")) return false;
  const auto script = script_of("self");
  return !script.empty() && script == script_of(parent);
}

// The nearest ancestor that is not itself inside the job (a `sh -c` wrapper carries the rank variable as well): one and
// the same process for all ranks of this host.
int launcher_pid() {
  const Rank own = rank_from_environment();
  int pid = getppid();
  if (own.source.empty()) return is_started_by_first_rank(std::to_string(pid)) ? parent_of(pid) : pid;
  for (int levels = 0; levels < 16 && pid > 1 && was_given(std::to_string(pid), own.source); ++levels) {
    const int parent = parent_of(pid);
    if (parent <= 1) break;
    pid = parent;
  }
  return pid;
}

std::string readable_time(std::int64_t unix_s) {
  const auto seconds = static_cast<time_t>(unix_s);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return text;
}

}  // namespace

Rank rank_from_environment() {
  Rank rank;
  for (const Launcher& launcher : kLaunchers) {
    if (!usable(launcher)) continue;
    if (rank.rank < 0) {
      rank.rank = number_in(launcher.rank);
      rank.source = launcher.rank;
    }
    // Another launcher may know what the first one does not say.
    if (number_in(launcher.rank) != rank.rank) continue;
    fill(rank.world_size, launcher.world_size);
    fill(rank.local_rank, launcher.local_rank);
    fill(rank.local_world_size, launcher.local_world_size);
    fill(rank.node_rank, launcher.node_rank);
  }
  // Ray's and Lightning's word for GROUP_RANK.
  if (rank.source == kLaunchers[0].rank) fill(rank.node_rank, "NODE_RANK");
  fill_in(rank);
  return rank;
}

Rank rank_that_was_told(int told, int world_size, const char* source) {
  Rank rank;
  rank.rank = told;
  rank.world_size = world_size;
  rank.source = source;
  const int said = number_in("WORLD_SIZE");
  if (said < 0 || said == world_size) {
    fill(rank.local_rank, "LOCAL_RANK");
    fill(rank.local_world_size, "LOCAL_WORLD_SIZE");
    fill(rank.node_rank, "GROUP_RANK");
    fill(rank.node_rank, "NODE_RANK");
  }
  fill_in(rank);
  return rank;
}

std::vector<std::string> rank_contradictions(const Rank& actual) {
  std::vector<std::string> found;
  for (const Launcher& launcher : kLaunchers) {
    const int value = number_in(launcher.rank);
    if (usable(launcher) && value != actual.rank)
      found.push_back(std::string(launcher.rank) + "=" + std::to_string(value));
  }
  return found;
}

/// "" where all ranks are on this host, or nobody says where they meet.
static std::string meeting_place() {
  const char* const address = std::getenv("MASTER_ADDR");
  const char* const port = std::getenv("MASTER_PORT");
  const int world_size = number_in("WORLD_SIZE"), local = number_in("LOCAL_WORLD_SIZE");
  if (address == nullptr || port == nullptr || local < 0 || world_size <= local) return {};
  return std::string(address) + ":" + port + "/" + std::to_string(world_size);
}

JobIdentity job_identity() {
  static constexpr struct {
    const char* variable;
    const char* prefix;
  } kJobs[] = {{"SLURM_JOB_ID", "slurm-"}, {"PBS_JOBID", "pbs-"},           {"LSB_JOBID", "lsf-"},
               {"FLUX_JOB_ID", "flux-"},   {"TORCHELASTIC_RUN_ID", "run-"}, {"PMIX_NAMESPACE", "job-"},
               {"PALS_APID", "pals-"}};
  for (const auto& job : kJobs) {
    const char* value = std::getenv(job.variable);
    if (value == nullptr || *value == 0 || std::strcmp(value, "none") == 0) continue;
    return {.key = job.prefix + std::string(value), .readable = job.prefix + std::string(value)};
  }
  const int launcher = launcher_pid();
  const std::uint64_t start = process_start_time(launcher);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::int64_t started_s = boot_time_s() + static_cast<std::int64_t>(start) / sysconf(_SC_CLK_TCK);
  return {.key = std::string(host) + "/" + std::to_string(launcher) + "/" + std::to_string(start),
          .readable = readable_time(started_s) + "-" + std::to_string(launcher),
          .meeting = meeting_place(),
          .host = host,
          .started_s = started_s};
}

std::uint64_t process_start_time(int pid) {
  const std::string fields = stat_fields(pid);
  // Behind the bracket field 3 comes first; field 22 is the twentieth there.
  const char* at = fields.c_str();
  bool main_thread_ended = false;
  for (int field = 3; field <= 22; ++field) {
    while (*at == ' ') ++at;
    if (field == 3) main_thread_ended = *at == 'Z' || *at == 'X';
    // A zombie runs no more, however long its parent leaves it there (in a container often for good). Its other threads
    // go on after pthread_exit() in the main one: field 20 counts them all.
    if (field == 20 && main_thread_ended && std::strtol(at, nullptr, 10) <= 1) return 0;
    if (field == 22) return std::strtoull(at, nullptr, 10);
    while (*at != 0 && *at != ' ') ++at;
  }
  return 0;
}

std::string command_line() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/self/cmdline", text, error)) return {};
  while (!text.empty() && text.back() == 0) text.pop_back();
  for (char& c : text) {
    if (c == 0) c = ' ';
  }
  return text;
}

std::string program_name() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/self/cmdline", text, error) || text.empty()) return "program";
  const auto base = [](std::string path) { return path.substr(path.rfind('/') + 1); };
  const std::string first = base(text.c_str());
  const bool interpreter = first.starts_with("python") || first == "bash" || first == "sh" || first.starts_with("perl");
  // For `python -u train.py` the script is what people call the program.
  for (std::size_t at = text.find('\0'); interpreter && at != std::string::npos && at + 1 < text.size();
       at = text.find('\0', at + 1)) {
    const std::string argument = text.c_str() + at + 1;
    if (argument.empty() || argument[0] == '-') continue;
    const std::string script = base(argument);
    const std::size_t dot = script.rfind('.');
    return dot == std::string::npos || dot == 0 ? script : script.substr(0, dot);
  }
  return first;
}

}  // namespace profshim
