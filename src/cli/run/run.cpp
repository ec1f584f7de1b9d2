// profshim run: preload and spec for one command, and what a killed job left behind afterwards.
#include <glob.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "child.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "cli/traces/recover.h"
#include "environment.h"
#include "profshim/base/files.h"
#include "profshim/base/printable.h"
#include "profshim/output.h"

namespace profshim::cli {
namespace {

struct RunOptions {
  std::string file;
  SpecOptions spec;
};

/// All folders of the run. What only the job's processes know ({host}, {pid}, ...) may be anything here.
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
    pattern += known ? output::run_name_for(spec, job_identity()) : "*";
    i = close;
  }
  std::vector<std::string> out;
  glob_t found = {};
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) out.push_back(absolute_path(found.gl_pathv[i]));
  }
  globfree(&found);
  return out;
}

void recover_all(const SpecSources& sources) {
  // With the run name that prepare_environment() has settled.
  SpecSources settled = sources_from_environment();
  settled.file = sources.file;
  // As `mpirun profshim run`: the first rank to end would tell of all the others that they have not.
  const bool among_ranks = rank_from_environment().rank >= 0;
  for (const std::string& folder : folders_of_run(load_spec(settled).spec)) {
    std::vector<RecoverNote> notes;
    recover_folder(folder, true, notes);
    for (const RecoverNote& note : notes) {
      if (note.running && among_ranks) continue;
      std::fprintf(stderr, "profshim: %s\n", printable(note.text).c_str());
    }
  }
}

int run(int argc, char** argv) {
  RunOptions options;
  CLI::App app("Runs a command with the library preloaded and a spec in force; ends as the command ends.",
               "profshim run");
  app.add_option("-s,--spec", options.file, "the spec (default: $PROFSHIM_SPEC, else the defaults)")->type_name("SPEC");
  options.spec.add_to(app);
  app.footer(
      "profshim run [OPTIONS] -- COMMAND [ARGUMENTS]\n\nExample:\n  profshim run -s run.toml --ranks all -- mpirun -n "
      "4 ./heat --steps 40\n\n"
      "On several nodes Open MPI hands on only what it is told to:\n"
      "  profshim run -s run.toml -- mpirun -x LD_PRELOAD -x PROFSHIM -x PROFSHIM_SPEC -x PROFSHIM_SET "
      "-x PROFSHIM_RUN_NAME ...\n\n"
      "Exit status: the command's; 2 when the spec is invalid, 126 or 127 when the command cannot be run.");
  char** const dashes = std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  int status = kFine;
  if (!parse_arguments(app, static_cast<int>(dashes - argv), argv, status)) return status;
  if (dashes == argv + argc || dashes + 1 == argv + argc) {
    std::fputs("profshim run: no command; write it after --, as in `profshim run -- mpirun -n 4 ./heat`\n", stderr);
    return kInvalid;
  }
  char** const command = dashes + 1;

  const SpecSources sources = options.spec.sources(app, options.file);
  const LoadedSpec loaded = load_spec(sources);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kInvalid;
  if (!loaded.spec.profile.enable) return end_like(run_child(command));

  std::string why_not;
  const std::string library = find_library(why_not);
  if (library.empty()) {
    std::fprintf(stderr, "profshim run: %s\n", why_not.c_str());
    return kInvalid;
  }
  prepare_environment(sources, loaded, library, command[0]);
  const int ended = run_child(command);
  unsetenv("LD_PRELOAD");
  recover_all(sources);
  return end_like(ended);
}

}  // namespace

extern const Command kRun;
const Command kRun = {"run", "run a command with the library and a spec", run};

}  // namespace profshim::cli
