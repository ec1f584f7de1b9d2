#include "profshim/base/job_identity.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launcher.h"
#include "proc_text.h"
#include "profshim/base/command_line.h"
#include "profshim/base/files.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

/// One line: the run folder's file has a line for each value.
std::string text_of(const char* variable) {
  const char* const value = std::getenv(variable);
  std::string text = value == nullptr ? "" : value;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, '_');
  return text;
}

std::string one_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c <= ' '; }, '_');
  return text;
}

// Unlike the difference of two clocks, btime is equal in all processes.
std::int64_t boot_time_s() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/stat", text, error)) return 0;
  const std::size_t at = text.find("\nbtime ");
  return at == std::string::npos ? 0 : leading_number<std::int64_t>(std::string_view(text).substr(at + 7));
}

std::string start_time_text(int pid) {
  const auto seconds =
      static_cast<time_t>(boot_time_s() + static_cast<std::int64_t>(process_start_time(pid)) / sysconf(_SC_CLK_TCK));
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return text;
}

std::string process_text(int pid) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return std::string(host) + "/" + std::to_string(pid) + "/" + std::to_string(process_start_time(pid));
}

/// "slurm-4711.0", "pbs-12.server"; "" without a scheduler. A requeued job has the same id as before.
std::string scheduled_job() {
  if (const std::string id = text_of("SLURM_JOB_ID"); !id.empty()) {
    const int step = number_in_environment("SLURM_STEP_ID"), restarts = number_in_environment("SLURM_RESTART_COUNT");
    return "slurm-" + id + (step >= 0 ? "." + std::to_string(step) : "") +
           (restarts > 0 ? "-restart" + std::to_string(restarts) : "");
  }
  if (const std::string id = text_of("PBS_JOBID"); !id.empty()) return "pbs-" + id;
  if (const std::string id = text_of("LSB_JOBID"); !id.empty()) {
    const int index = number_in_environment("LSB_JOBINDEX");
    return "lsf-" + id + (index > 0 ? "." + std::to_string(index) : "");
  }
  const std::string id = text_of("FLUX_JOB_ID");
  return id.empty() ? id : "flux-" + id;
}

/// Equal on all hosts of one launch, other in the next launch; "" = there is no such id.
std::string launch_id(const Rank& rank, const std::string& scheduled) {
  if (const std::string id = text_of("PMIX_NAMESPACE"); !id.empty()) return "pmix-" + id;
  if (const std::string id = text_of("PALS_APID"); !id.empty()) return "pals-" + id;
  // torchrun starts the ranks that have RANK. A step of Slurm may start it several times.
  const bool is_step = scheduled.starts_with("flux-") || number_in_environment("SLURM_STEP_ID") >= 0;
  return is_step && rank_from_environment().source != "RANK" && rank.world_size > 1 ? scheduled : "";
}

/// The address where the ranks of several launchers meet: "node1:29500/16"; "" = one launcher has started all.
std::string rendezvous() {
  const std::string address = text_of("MASTER_ADDR"), port = text_of("MASTER_PORT");
  const int world_size = number_in_environment("WORLD_SIZE"), local = number_in_environment("LOCAL_WORLD_SIZE");
  if (address.empty() || port.empty() || world_size <= std::max(local, 1)) return {};
  std::string place = address + ":" + port + "/" + std::to_string(world_size);
  if (address != "localhost" && !address.starts_with("127.") && address != "::1") return place;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return place + "@" + host;
}

std::string rendezvous_of(const Launcher& launcher, const std::string& program, const std::string& scheduled) {
  std::string place = rendezvous();
  if (place.empty() && launcher.shell > 0) place = program + "@" + process_text(launcher.shell);
  if (place.empty()) return {};
  const std::string id = text_of("TORCHELASTIC_RUN_ID");
  return place + " " + (id == "none" ? "" : id) + " " + scheduled;
}

/// Returns "ray-session_2026..." and the program that has started the cluster, if a raylet has started this process.
std::string ray_cluster() {
  constexpr std::string_view kOption = "--session-name=";
  const int raylet = getppid();
  const auto arguments = read_proc_texts("/proc/" + std::to_string(raylet) + "/cmdline");
  if (arguments.empty() || arguments[0].substr(arguments[0].rfind('/') + 1) != "raylet") return {};
  const auto at = std::find_if(arguments.begin(), arguments.end(),
                               [=](const std::string& argument) { return argument.starts_with(kOption); });
  if (at == arguments.end()) return {};
  const int driver = parent_process(raylet);
  return one_word("ray-" + at->substr(kOption.size())) + (driver > 1 ? " " + one_word(process_text(driver)) : "");
}

}  // namespace

JobIdentity job_identity(const Rank& rank) {
  JobIdentity job;
  const std::string scheduled = scheduled_job();
  const Launcher launcher = launcher_of(rank);
  const std::string id = launch_id(rank, scheduled);
  job.program = program_name_of(read_proc_texts("/proc/" + std::to_string(launcher.program) + "/cmdline"));
  job.key = id.empty() ? process_text(launcher.pid) : id;
  job.launch = ray_cluster();
  if (job.launch.empty()) job.launch = one_word(job.key);
  // A program may start jobs of one rank, each with an id of its own (MPI without mpirun).
  if (!id.empty()) job.launch += " " + one_word(process_text(launcher.pid));
  for (const int pid : programs_above())
    job.ancestors += (job.ancestors.empty() ? "" : " ") + one_word(process_text(pid));
  job.readable = scheduled.empty() ? start_time_text(launcher.pid) + "-" + std::to_string(launcher.pid) : scheduled;
  const bool is_on_one_host = rank.world_size <= 1 || rank.world_size == rank.local_world_size;
  if (!id.empty()) {
    // Ranks on other hosts have other launchers, whose start makes the name.
    job.has_common_name = !scheduled.empty() || is_on_one_host;
    if (!job.has_common_name) job.rendezvous = id;
  } else if (rank.world_size > 1) {
    job.rendezvous = rendezvous_of(launcher, job.program, scheduled);
    job.has_common_name = !scheduled.empty() || job.rendezvous.empty();
  }
  return job;
}

std::string own_process_word() { return one_word(process_text(getpid())); }

}  // namespace profshim
