// profshim compare BASE NEW: the gate of a CI. What it compares, and when it fails:
// include/profshim/analysis/compare.h.
#include "profshim/analysis/compare.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "compare_reports.h"
#include "profshim/base/printable.h"
#include "profshim/trace.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

struct Options {
  std::vector<std::string> paths, base;
  std::string spec, update, junit, markdown;
  bool json = false;
  CompareOptions how;
};

/// collect_traces says which path has none.
struct NoTraces {};

RunProfile profile(const std::vector<std::string>& paths, bool rules) {
  std::vector<std::string> files;
  if (!collect_traces(paths, files) || files.empty()) throw NoTraces();
  std::string name;
  for (const std::string& path : paths) name += (name.empty() ? "" : ", ") + path;
  return profile_run(files, name, rules);
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file;
  if (!file.open(path) || !file.write(text.data(), text.size()) || !file.publish(AtomicFile::Existing::kReplace)) {
    throw std::runtime_error(path + ": cannot be written: " + std::strerror(file.error()));
  }
}

/// Counts are compared with one run only, so those of a baseline must agree.
int update_baseline(const Options& options) {
  std::vector<RunProfile> runs;
  for (const std::string& path : options.paths) runs.push_back(profile({path}, false));
  for (const RunProfile& run : runs) {
    const Comparison comparison = compare_runs({runs.front()}, run, options.how);
    for (const Change& c : comparison.changes) {
      if (c.what != Change::What::kCount) continue;
      throw std::runtime_error(run.path + ": not the same program as " + runs.front().path + ": " + c.name +
                               " occurs not as often; `profshim compare` of the two shows all");
    }
  }
  write_file(options.update, baseline_text(runs));
  std::printf("%s: a baseline of %zu run%s\n", printable(options.update).c_str(), runs.size(),
              runs.size() == 1 ? "" : "s");
  return kFine;
}

/// BASE of the command line is the first path, unless --base names it or there is no more than one.
void divide_paths(Options& options) {
  if (!options.base.empty() || options.paths.size() < 2) return;
  options.base.push_back(options.paths.front());
  options.paths.erase(options.paths.begin());
}

int report(const Comparison& comparison, const Options& options, const std::string& heading) {
  std::fputs((options.json ? compare_json(comparison) : printable_lines(compare_text(comparison))).c_str(), stdout);
  if (!options.junit.empty()) write_file(options.junit, compare_junit(comparison));
  if (!options.markdown.empty()) write_file(options.markdown, compare_markdown(comparison, heading));
  return comparison.failed() ? kFound : kFine;
}

int compare(Options& options) {
  if (!options.update.empty()) return update_baseline(options);
  divide_paths(options);
  if (options.base.empty() && options.spec.empty()) {
    std::fputs("profshim compare: one run alone; name BASE and NEW, or rules with --spec\n", stderr);
    return kInvalid;
  }
  LoadedSpec spec;
  if (!load_spec_file(options.spec, spec)) return kInvalid;
  // Lost events are a rule's to forgive only where nothing is compared.
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
    heading = (stored ? options.base.front() : base.front().path) + " -> " + heading;
  }
  if (!options.spec.empty()) append(result, check_rules(spec.spec, options.spec, run, options.how));
  return report(result, options, heading);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Compares two runs, step by step: how often each operator, call and kernel occurs (any difference is a "
      "regression)\nand how long steps, names and communication take (a regression when it is significant, more than "
      "the tolerance, and\nlasts). Rules: [check] and [[check.rule]] of a spec.\n"
      "Example: profshim compare --update-baseline base.json ./good-run\n"
      "         profshim compare base.json ./new-run --spec ci.toml --junit report.xml --markdown report.md\n"
      "Exit code: 0 no regression, 1 a regression or a broken rule, 2 cannot be compared."};
  app.name("profshim compare");
  app.add_option("PATH", options.paths,
                 "BASE, then NEW: folders of traces, trace files, BASE also a stored baseline. With --spec alone or "
                 "--update-baseline: NEW")
      ->required();
  app.add_option("--base", options.base, "BASE, where it is several files; may be repeated")
      ->type_name("PATH")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("-s,--spec", options.spec, "A spec whose [check] NEW is held to")->type_name("FILE");
  app.add_option("--update-baseline", options.update,
                 "Writes the runs named (several of the same program: better) into this file")
      ->type_name("FILE");
  app.add_option("--tolerance", options.how.tolerance, "A time may grow by so much; default 0.10")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--floor-us", options.how.floor_us, "And by so many microseconds; default 100")
      ->check(CLI::Range(0.0, 1e12));
  app.add_option("--cpu-noise", options.how.cpu_noise,
                 "By how much the CPU time of one program may differ from run to run, unless a baseline of three or "
                 "more runs tells; default 1 = twice as long")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_flag("--json", options.json, "JSON instead of text, times in microseconds");
  app.add_option("--junit", options.junit, "A JUnit file besides")->type_name("FILE");
  app.add_option("--markdown", options.markdown, "A Markdown file besides, for a comment or a job's summary")
      ->type_name("FILE");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;
  try {
    return compare(options);
  } catch (const NoTraces&) {
    return kInvalid;
  }
}

}  // namespace

extern const Command kCompare;
const Command kCompare = {"compare", "two runs against each other, or one against rules: the gate of a CI", run};

}  // namespace profshim::cli
