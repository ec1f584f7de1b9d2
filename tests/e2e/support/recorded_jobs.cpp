#include "recorded_jobs.h"

#include <algorithm>

#include "built_programs.h"

namespace profshim::e2e {

Job heat_job(const ScratchFolder& scratch, int ranks, int steps, const std::string& settings) {
  Job job = mpirun(installed_mpis().front(), ranks, {built("demo/heat"), std::to_string(steps), "64"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_SET", "output.gzip=false " + settings);
  return job;
}

namespace {

Job nvtx_job(const ScratchFolder& scratch, int ranks, const std::string& program,
             const std::vector<std::string>& arguments, const std::string& spec) {
  std::vector<std::string> command = {built("tests/apps_nvtx/" + program)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Job job = mpirun(Mpi::kOpenMpi, ranks, command);
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\n" + spec));
  return job;
}

constexpr const char* kOutput = "[output]\nfolder = \"traces\"\ngzip = false\n";

}  // namespace

Job epochs_job(const ScratchFolder& scratch, const std::vector<std::string>& arguments, const std::string& spec) {
  return nvtx_job(scratch, 1, "nvtx_epochs", arguments, spec + kOutput);
}

Job phases_job(const ScratchFolder& scratch, int ranks, const std::vector<std::string>& arguments,
               const std::string& spec) {
  return nvtx_job(scratch, ranks, "nvtx_phases", arguments,
                  spec.find("[output]") == std::string::npos ? spec + kOutput : spec);
}

Job whole_run_job(const ScratchFolder& scratch, Mpi mpi, int ranks, const std::vector<std::string>& command) {
  Job job = mpirun(mpi, ranks, command);
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none limits.window_seconds=3600");
  return job;
}

std::vector<std::string> pythons() {
  std::vector<std::string> found = {"/usr/bin/python3"};
  for (int minor = 10; minor <= 14; ++minor) {
    const std::string name = "python3." + std::to_string(minor);
    Job probe;
    probe.command = {"/bin/sh", "-c", "exec " + name + " -c 'import sys; print(sys.executable)'"};
    probe.preload = false;
    const Outcome outcome = run(probe);
    const std::string path = outcome.out.substr(0, outcome.out.find('\n'));
    if (outcome.ending() == "exit 0" && path != "/usr/bin/python3" && path != "/usr/bin/" + name) found.push_back(path);
  }
  return found;
}

std::size_t lines_with(const Outcome& outcome, const std::string& text) {
  const auto lines = outcome.shim_lines();
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

}  // namespace profshim::e2e
