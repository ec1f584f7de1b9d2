// profshim doctor: what would be hooked here, and why not.
#include "doctor.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/printable.h"
#include "profshim/trace.h"

namespace profshim::cli {
namespace doctor {

bool Notes::any_unrecorded() const {
  return std::any_of(all_.begin(), all_.end(), [](const Note& n) { return n.verdict == Note::Verdict::kUnrecorded; });
}

namespace {

const char* word(Note::Verdict verdict) {
  switch (verdict) {
    case Note::Verdict::kRecorded:
      return "recorded";
    case Note::Verdict::kUnrecorded:
      return "not recorded";
    default:
      return "";
  }
}

void print_text(const char* title, const Notes& notes) {
  if (notes.all().empty()) return;
  std::printf("%s\n", printable(title).c_str());
  for (const Note& note : notes.all())
    std::printf("  %-14s %-12s  %s\n", printable(note.subject).c_str(), word(note.verdict),
                printable(note.text).c_str());
}

std::string json_of(const Notes& notes) {
  std::string json = "[";
  for (const Note& note : notes.all()) {
    const char* verdict = note.verdict == Note::Verdict::kFact ? "fact" : word(note.verdict);
    json += std::string(json.size() > 1 ? ", " : "") + "{\"subject\": " + json_string(note.subject) +
            ", \"verdict\": " + json_string(verdict) + ", \"text\": " + json_string(note.text) + "}";
  }
  return json + "]";
}

struct Options {
  bool json = false;
  std::string spec;
  std::vector<std::string> command;
};

int report(const Options& options, const Spec& spec) {
  Notes machine, job;
  look_at_machine(machine);
  Program program;
  if (!options.command.empty()) {
    program = find_program(options.command);
    if (program.path.empty()) {
      std::fprintf(stderr, "profshim: %s\n", printable(program.problem).c_str());
      return kInvalid;
    }
    look_at_program(program, spec, job);
  }
  if (options.json) {
    std::printf("{\"machine\": %s, \"program\": %s, \"notes\": %s}\n", json_of(machine).c_str(),
                json_string(program.path).c_str(), json_of(job).c_str());
  } else {
    print_text("this machine", machine);
    if (!program.path.empty()) print_text(("program " + program.path).c_str(), job);
  }
  return machine.any_unrecorded() || job.any_unrecorded() ? kFound : kFine;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Tells what would be recorded here, and what not and why. Runs nothing of the command.",
               "profshim doctor");
  app.add_flag("--json", options.json, "as JSON");
  app.add_option("--spec", options.spec, "the spec whose symbol steps are looked up (default: PROFSHIM_SPEC)");
  app.footer(
      "Exit status: 0 everything will be recorded, 1 something will not, 2 could not look.\n"
      "Example:\n  profshim doctor -- mpirun -n 4 ./heat");
  // What stands behind -- is the job's, whatever it looks like.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  int status = kFine;
  if (!parse_arguments(app, static_cast<int>(dashes - argv), argv, status)) return status;
  if (dashes != end) options.command.assign(dashes + 1, end);

  SpecSources sources = sources_from_environment();
  if (!options.spec.empty()) sources.file = options.spec;
  const LoadedSpec loaded = load_spec(sources);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kInvalid;
  return report(options, loaded.spec);
}

}  // namespace
}  // namespace doctor

extern const Command kDoctor;
const Command kDoctor = {"doctor", "what would be hooked here, and why not", doctor::run};

}  // namespace profshim::cli
