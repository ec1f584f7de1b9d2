#include "profshim/analysis/compare.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "compare_reports.h"
#include "profshim/base/atomic_file.h"
#include "profshim/base/text/message_text.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

struct Options {
  std::vector<std::string> paths, base;
  std::string spec, update, junit, markdown;
  bool json = false;
  CompareOptions how;
};

struct NoTraces {};

RunProfile profile(const std::vector<std::string>& paths, bool rules) {
  std::vector<std::string> files;
  if (!collect_traces(paths, files) || files.empty() || refuse_groups("compare", groups_of(files))) throw NoTraces();
  std::string name;
  for (const std::string& path : paths) name += (name.empty() ? "" : ", ") + path;
  return profile_run(files, name, rules);
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file;
  if (!file.open(path) || !file.write(text.data(), text.size()) || !file.publish(AtomicFile::Existing::kReplace)) {
    throw std::runtime_error("cannot write " + path + ": " + error_text(file.error()));
  }
}

/// compare_runs() uses the counts of only one run of the baseline, so all runs must agree.
int update_baseline(const Options& options) {
  std::vector<RunProfile> runs;
  for (const std::string& path : options.paths) runs.push_back(profile({path}, false));
  for (const RunProfile& run : runs) {
    for (const std::string& note : run.notes) std::fprintf(stderr, "profshim: %s\n", printable(note).c_str());
  }
  for (const RunProfile& run : runs) {
    const Comparison comparison = compare_runs({runs.front()}, run, options.how);
    for (const Change& c : comparison.changes) {
      if (c.what != Change::What::kCount) continue;
      throw std::runtime_error(run.path + ": not the same program as " + runs.front().path +
                               ": different number of calls of " + c.name +
                               "; `profshim compare BASE NEW` lists all differences");
    }
  }
  write_file(options.update, baseline_text(runs));
  std::printf("%s: baseline of %s\n", printable(options.update).c_str(), plural(runs.size(), "run").c_str());
  return kSuccess;
}

void divide_paths(Options& options) {
  if (!options.base.empty() || options.paths.size() < 2) return;
  options.base.push_back(options.paths.front());
  options.paths.erase(options.paths.begin());
}

int report(const Comparison& comparison, const Options& options, const std::string& heading) {
  std::fputs((options.json ? compare_json(comparison) : printable_lines(compare_text(comparison))).c_str(), stdout);
  if (!options.junit.empty()) write_file(options.junit, compare_junit(comparison));
  if (!options.markdown.empty()) write_file(options.markdown, compare_markdown(comparison, heading));
  return comparison.failed() ? kProblemsFound : kSuccess;
}

void add_notes(const RunProfile& run, Comparison& to) {
  for (const std::string& note : run.notes) {
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end()) to.notes.push_back(note);
  }
}

int compare(Options& options) {
  if (!options.update.empty()) return update_baseline(options);
  divide_paths(options);
  if (options.base.empty() && options.spec.empty()) {
    std::fputs("profshim compare: only one run given; name BASE and NEW, or give rules with --spec\n", stderr);
    return kFailure;
  }
  LoadedSpec spec;
  if (!load_spec_file(options.spec, spec)) return kFailure;
  // Without BASE, lost events are no error: rules may allow them.
  const RunProfile run = profile(options.paths, options.base.empty());
  Comparison result;
  std::string heading = run.path;
  if (!options.base.empty()) {
    const bool stored = options.base.size() == 1 && is_baseline(options.base.front());
    std::vector<RunProfile> base;
    if (stored) {
      base = read_baseline(options.base.front());
    } else {
      base.push_back(profile(options.base, false));
    }
    result = compare_runs(base, run, options.how);
    for (const RunProfile& earlier : base) add_notes(earlier, result);
    heading = (stored ? options.base.front() : base.front().path) + " -> " + heading;
  }
  if (!options.spec.empty()) append(result, check_rules(spec.spec, options.spec, run, options.how));
  add_notes(run, result);
  return report(result, options, heading);
}

int run(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "compare",
      "Compares two runs of a program step by step:\n"
      "  - the number of calls of each operator, function and kernel; any difference is a regression;\n"
      "  - the time of steps, of communication, and of each of those names; an increase is a regression if it is\n"
      "    statistically significant, larger than the tolerance, lasting, and not explained by a busier machine;\n"
      "  - occurrences, launches and times of the phases of the spec.\n"
      "With --spec, also checks the rules of the spec: [check] and [[check.rule]].");
  arguments
      .add("PATH", options.paths,
           "BASE, then NEW: trace files or folders; BASE may be a stored baseline. With --spec alone or with "
           "--update-baseline: only NEW")
      .required();
  arguments.add("--base", options.base, "One of several files of BASE; may be repeated").shown_as("PATH");
  arguments.add("-s,--spec", options.spec, "Spec with the rules that NEW must meet").shown_as("FILE");
  arguments
      .add("--update-baseline", options.update,
           "Store the given runs in this file as a baseline; several runs make times more reliable")
      .shown_as("FILE");
  arguments.add("--tolerance", options.how.tolerance, "Allowed relative increase of a time (default: 0.10)")
      .range(0.0, 1000.0)
      .shown_as("FACTOR");
  arguments.add("--floor-us", options.how.floor_us, "Allowed increase of a time in microseconds (default: 100)")
      .range(0.0, 1e12);
  arguments
      .add("--cpu-noise", options.how.cpu_noise,
           "Expected relative variation of CPU times between runs; a baseline of three or more runs measures it "
           "instead (default: 1 = up to twice as long)")
      .range(0.0, 1000.0)
      .shown_as("FACTOR");
  arguments.add("--json", options.json, "Print JSON, with times in microseconds");
  arguments.add("--junit", options.junit, "Also write a JUnit file").shown_as("FILE");
  arguments.add("--markdown", options.markdown, "Also write a Markdown file, for a pull request or a CI summary")
      .shown_as("FILE");
  arguments.footer(
      "Examples:\n"
      "  profshim compare --update-baseline base.json ./good-run\n"
      "  profshim compare base.json ./new-run --spec ci.toml --junit report.xml --markdown report.md\n\n" +
      std::string(kExitStatus) + "\nA problem is a regression or a broken rule.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  try {
    return compare(options);
  } catch (const NoTraces&) {
    return kFailure;
  }
}

}  // namespace

extern const Command kCompare;
const Command kCompare = {"compare", "compare two runs, or check one run against rules (for CI)", run};

}  // namespace profshim::cli
