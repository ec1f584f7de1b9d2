#include "profshim/base/job_identity.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "environment.h"
#include "proc_text.h"
#include "profshim/base/files.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/rank.h"

namespace profshim {
namespace {

// Unlike the difference of two clocks, btime is equal in all processes.
std::int64_t boot_time_s() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/stat", text, error)) return 0;
  const std::size_t at = text.find("\nbtime ");
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 7, nullptr, 10);
}

bool was_given(const std::string& pid, const std::string& variable) {
  const auto environment = read_proc_texts("/proc/" + pid + "/environ");
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& text) { return text.starts_with(variable + "="); });
}

std::vector<std::string> script_of(const std::string& pid) {
  auto arguments = read_proc_texts("/proc/" + pid + "/cmdline");
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
bool is_started_by_first_rank(const std::string& parent) {
  if (!was_given("self", "LOCAL_RANK") || was_given(parent, "LOCAL_RANK")) return false;
  const auto script = script_of("self");
  return !script.empty() && script == script_of(parent);
}

// Skips `sh -c` wrappers and Lightning's first rank.
int launcher_pid() {
  const Rank own = rank_from_environment();
  int pid = getppid();
  if (own.source.empty()) return is_started_by_first_rank(std::to_string(pid)) ? parent_process(pid) : pid;
  for (int levels = 0; levels < 16 && pid > 1 && was_given(std::to_string(pid), own.source); ++levels) {
    const int parent = parent_process(pid);
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

std::string rendezvous_of_job() {
  const char* const address = std::getenv("MASTER_ADDR");
  const char* const port = std::getenv("MASTER_PORT");
  const int world_size = number_in_environment("WORLD_SIZE"), local = number_in_environment("LOCAL_WORLD_SIZE");
  if (address == nullptr || port == nullptr || local < 0 || world_size <= local) return {};
  return std::string(address) + ":" + port + "/" + std::to_string(world_size);
}

}  // namespace

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
          .rendezvous = rendezvous_of_job(),
          .host = host,
          .started_s = started_s};
}

}  // namespace profshim
