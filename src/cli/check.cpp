// profshim check: the same code that reads the spec in the job.
#include <cstdio>

#include "command.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct CheckOptions {
  std::string file;
  SpecOptions spec;
  bool json = false;
};

int check(int argc, char** argv) {
  CheckOptions options;
  CLI::App app("Checks a spec before the job runs, as the job itself will read it.", "profshim check");
  app.add_option("SPEC", options.file, "the spec (default: $PROFSHIM_SPEC)");
  options.spec.add_to(app);
  app.add_flag("--json", options.json, "problems as JSON on stdout");
  app.footer("Example:\n  profshim check run.toml && PROFSHIM_SPEC=run.toml mpirun ...");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;

  const SpecSources sources = options.spec.sources(app, options.file);
  if (sources.file.empty() && sources.environment.empty() && sources.options.empty()) {
    std::fputs("profshim check: no spec; name a file, or set PROFSHIM_SPEC\n", stderr);
    return kInvalid;
  }
  const LoadedSpec loaded = load_spec(sources);
  if (options.json) {
    std::printf("{\"ok\": %s, \"enabled\": %s, \"hash\": \"%s\", \"problems\": %s}\n", loaded.ok() ? "true" : "false",
                loaded.enabled ? "true" : "false", loaded.spec.hash().c_str(), problems_json(loaded.problems).c_str());
  } else {
    print_problems(loaded.problems);
    if (loaded.ok()) {
      std::printf("%s: fine%s\n", sources.file.empty() ? "environment" : sources.file.c_str(),
                  loaded.enabled ? "" : ", but profile.enable is false: nothing will be recorded");
    }
  }
  return loaded.ok() ? kFine : kInvalid;
}

}  // namespace

extern const Command kCheck;
const Command kCheck = {"check", "check a spec before the job runs", check};

}  // namespace profshim::cli
