#include "run.h"

#include <glob.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/find_library.h"
#include "cli/spec/spec_options.h"
#include "cli/traces/recover.h"
#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/run_folder.h"

namespace profshim::cli {
namespace {

struct RunOptions {
  std::string file;
  SpecOptions spec;
};

/// Variables of output.folder such as {host} and {pid} match any text.
std::vector<std::string> folders_of_run(const Spec& spec) {
  std::string pattern;
  const std::string& folder = spec.output.folder;
  for (std::size_t i = 0; i < folder.size(); ++i) {
    const std::size_t close = folder[i] == '{' ? folder.find('}', i) : std::string::npos;
    if (close == std::string::npos) {
      if (std::strchr("*?[\\", folder[i]) != nullptr) pattern += '\\';
      pattern += folder[i];
      continue;
    }
    const bool known = folder.compare(i, close - i + 1, "{run_name}") == 0;
    pattern += known ? run_name_for(spec, job_identity(rank_from_environment())) : "*";
    i = close;
  }
  std::vector<std::string> out;
  glob_t found = {};
  int failed = glob(pattern.c_str(), GLOB_ONLYDIR | GLOB_NOSORT, nullptr, &found);
  if (spec.output.overwrite == Overwrite::kNew)
    failed &= glob((pattern + "-[0-9]*").c_str(), GLOB_ONLYDIR | GLOB_NOSORT | GLOB_APPEND, nullptr, &found);
  if (failed == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) out.push_back(absolute_path(found.gl_pathv[i]));
  }
  globfree(&found);
  std::sort(out.begin(), out.end());
  return out;
}

/// Also runs finish.command for ranks that were killed before it ran.
void finish_all(const SpecSources& sources, std::int64_t began_ns) {
  // The environment has the run name that prepare_environment() set.
  SpecSources settled = sources_from_environment();
  settled.file = sources.file;
  // With `mpirun ... profshim run`, the first rank to end must not report the others as running.
  const bool among_ranks = rank_from_environment().rank >= 0;
  const Spec spec = load_spec(settled).spec;
  for (const std::string& folder : folders_of_run(spec)) {
    std::vector<RecoverNote> notes;
    recover_quietly(folder, began_ns, notes);
    for (const RecoverNote& note : notes) {
      if (note.running && among_ranks) continue;
      std::fprintf(stderr, "profshim: %s\n", printable(note.text).c_str());
    }
    run_missing_finish(spec, folder, began_ns);
  }
}

int run(int argc, char** argv) {
  RunOptions options;
  Arguments arguments("run", "Runs a command with the library preloaded and a spec in force.");
  arguments.add("-s,--spec", options.file, "Spec file (default: $PROFSHIM_SPEC, or else the built-in defaults)")
      .shown_as("SPEC");
  options.spec.add_to(arguments);
  arguments.footer(
      "Usage:\n  profshim run [OPTIONS] -- COMMAND [ARGUMENTS]\n\n"
      "Example:\n  profshim run -s run.toml --ranks all -- mpirun -n 4 ./heat --steps 40\n\n"
      "Open MPI passes to other nodes only the variables named with -x:\n"
      "  profshim run -s run.toml -- mpirun -x LD_PRELOAD -x PROFSHIM -x PROFSHIM_SPEC \\\n"
      "    -x PROFSHIM_SET -x PROFSHIM_RUN_NAME ...\n\n"
      "Exit status: that of the command; 2 invalid spec or missing library; 126 or 127 the command cannot be run.");
  char** const dashes = std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  int status = kSuccess;
  if (!arguments.parse(static_cast<int>(dashes - argv), argv, status)) return status;
  if (dashes == argv + argc || dashes + 1 == argv + argc) {
    std::fputs("profshim run: no command given; write it after --: profshim run -- mpirun -n 4 ./heat\n", stderr);
    return kFailure;
  }
  char** const command = dashes + 1;

  const SpecSources sources = options.spec.sources(arguments, options.file);
  const LoadedSpec loaded = load_spec(sources);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kFailure;
  if (!loaded.spec.profile.enable) return exit_like(run_child(command));

  std::string why_not;
  const std::string library = find_library(why_not);
  if (library.empty()) {
    std::fprintf(stderr, "profshim run: %s\n", why_not.c_str());
    return kFailure;
  }
  prepare_environment(sources, loaded, library, command[0]);
  const std::int64_t began_ns = realtime_ns();
  const int wait_status = run_child(command);
  unsetenv("LD_PRELOAD");
  finish_all(sources, began_ns);
  return exit_like(wait_status);
}

}  // namespace

extern const Command kRun;
const Command kRun = {"run", "run a command with the library preloaded and a spec in force", run};

}  // namespace profshim::cli
