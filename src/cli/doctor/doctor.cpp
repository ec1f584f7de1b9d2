#include "doctor.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"

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

void write_notes(JsonWriter& json, std::string_view key, const Notes& notes) {
  json.key(key).open_list();
  for (const Note& note : notes.all()) {
    const char* verdict = note.verdict == Note::Verdict::kFact ? "fact" : word(note.verdict);
    json.open_object().member("subject", note.subject).member("verdict", verdict).member("text", note.text);
    json.close_object();
  }
  json.close_list();
}

void print_json(const Notes& machine, const std::string& program, const Notes& job) {
  JsonWriter json;
  json.open_object();
  write_notes(json, "machine", machine);
  json.member("program", program);
  write_notes(json, "notes", job);
  std::puts(json.close_object().text().c_str());
}

struct Options {
  bool json = false;
  std::string spec;
  std::vector<std::string> command;
};

int report(const Options& options, const Spec& spec) {
  Notes machine, job;
  examine_machine(spec, machine);
  Program program;
  if (!options.command.empty()) {
    program = find_program(options.command);
    if (program.path.empty()) {
      std::fprintf(stderr, "profshim: %s\n", printable(program.problem).c_str());
      return kFailure;
    }
    examine_program(program, spec, job);
  }
  if (options.json) {
    print_json(machine, program.path, job);
  } else {
    print_text("this machine", machine);
    if (!program.path.empty()) print_text(("program " + program.path).c_str(), job);
  }
  return machine.any_unrecorded() || job.any_unrecorded() ? kProblemsFound : kSuccess;
}

int run(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "doctor",
      "Shows what would be recorded on this machine, and what would not and why. With a command after --,\n"
      "also examines the program that the command runs. Does not run the command.");
  arguments.add("--json", options.json, "Print JSON");
  arguments.add("--spec", options.spec, "Spec whose symbol steps and counters are examined (default: $PROFSHIM_SPEC)")
      .shown_as("FILE");
  arguments.footer("Example:\n  profshim doctor -- mpirun -n 4 ./heat\n\n" + std::string(kExitStatus) +
                   "\nA problem is something that would not be recorded.");
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  int status = kSuccess;
  if (!arguments.parse(static_cast<int>(dashes - argv), argv, status)) return status;
  if (dashes != end) options.command.assign(dashes + 1, end);

  SpecSources sources = sources_from_environment();
  if (!options.spec.empty()) sources.file = options.spec;
  const LoadedSpec loaded = load_spec(sources);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kFailure;
  return report(options, loaded.spec);
}

}  // namespace
}  // namespace doctor

extern const Command kDoctor;
const Command kDoctor = {"doctor", "show what would be recorded here, and what would not and why", doctor::run};

}  // namespace profshim::cli
