#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "cli/traces/trace_files.h"
#include "first_spec.h"
#include "observed_run.h"
#include "profshim/base/atomic_file.h"
#include "profshim/base/command_line.h"
#include "profshim/base/text/message_text.h"
#include "profshim/spec.h"
#include "seen_job.h"

namespace profshim::cli {
namespace {

struct InitOptions {
  std::string file, trace;
  bool force = false;
  RunLimits limits;
};

class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / "profshim-init-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": " + error_text(errno));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

SeenJob look_at_command(const std::vector<std::string>& command, const RunLimits& limits) {
  const std::string shown = shown_command_line(command, true);
  const ScratchFolder scratch;
  std::fprintf(stderr, "profshim init: runs %s\n", printable(shown).c_str());
  const ObservedRun run = observe(command, scratch.path(), limits);
  if (run.interrupted) throw std::runtime_error("interrupted; the command was stopped, no spec was written");
  std::fprintf(stderr, "profshim init: the command ended: %s; %s\n", run.ending.c_str(),
               plural(run.traces.size(), "trace").c_str());
  if (run.traces.empty() && run.failed)
    throw std::runtime_error("the command failed (" + run.ending + ") before anything was recorded");
  SeenJob job;
  if (!run.traces.empty()) job = look_at_traces(run.traces);
  job.to_its_end &= run.ended;
  job.command = shown;
  job.launcher = launcher_of(command);
  if (job.launcher.empty()) job.launcher = run.launcher;
  if (!run.mpi.empty()) {
    job.frameworks.erase("MPI");
    job.frameworks.insert(run.mpi);
  }
  return job;
}

/// Returns false after a message if there is no trace.
bool look_at_path(const std::string& path, SeenJob& job) {
  std::vector<std::string> files;
  if (!collect_traces({path}, files)) return false;
  job = look_at_traces(files);
  return true;
}

void write_spec(const std::string& text, const InitOptions& options) {
  if (options.file.empty()) {
    std::fputs(text.c_str(), stdout);
    return;
  }
  AtomicFile file;
  using Existing = AtomicFile::Existing;
  if (!file.open(options.file) || !file.write(text.data(), text.size()) ||
      !file.publish(options.force ? Existing::kReplace : Existing::kKeepExisting))
    throw std::runtime_error(options.file + ": " + error_text(file.error()));
}

int init(int argc, char** argv) {
  InitOptions options;
  Arguments arguments("init", "Writes a spec for a job: runs it for some seconds, or looks at its traces.");
  arguments.add("TRACE", options.trace, "Trace or folder of traces, instead of a command");
  arguments.add("-o,--output", options.file, "Write the spec into this file (default: standard output)")
      .shown_as("FILE");
  arguments.add("-f,--force", options.force, "Replace an existing FILE");
  arguments
      .add("--seconds", options.limits.record_seconds, "Seconds to record before the command is stopped (default: 10)")
      .range(0.1, 3600);
  arguments
      .add("--start-seconds", options.limits.start_seconds, "Seconds to wait for a rank that records (default: 60)")
      .range(0.1, 86400);
  arguments.footer(
      "Usage:\n  profshim init [OPTIONS] -- COMMAND [ARGUMENTS]\n  profshim init [OPTIONS] TRACE\n\n"
      "Example:\n  profshim init -o run.toml -- mpirun -n 4 ./heat\n\n" +
      std::string(kExitStatus));
  char** const dashes = std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  int status = kSuccess;
  if (!arguments.parse(static_cast<int>(dashes - argv), argv, status)) return status;
  const std::vector<std::string> command(dashes == argv + argc ? dashes : dashes + 1, argv + argc);
  if (command.empty() == options.trace.empty())
    throw std::runtime_error("init needs either a trace or, after --, a command: profshim init -- mpirun -n 4 ./heat");
  if (!options.file.empty() && !options.force && std::filesystem::exists(options.file))
    throw std::runtime_error(options.file + " exists; --force replaces it");

  SeenJob job;
  if (!command.empty()) {
    job = look_at_command(command, options.limits);
  } else if (!look_at_path(options.trace, job)) {
    return kFailure;
  }
  const std::string text = first_spec(job);
  const LoadedSpec loaded = load_spec_text(text, "the new spec");
  print_problems(loaded.problems);
  write_spec(text, options);
  return loaded.ok() ? kSuccess : kFailure;
}

}  // namespace

extern const Command kInit;
const Command kInit = {"init", "write a spec for a job from a short run or a trace", init};

}  // namespace profshim::cli
