#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"
#include "profshim/run/manifest.h"
#include "profshim/trace/completeness.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string spec;
  bool json = false, quiet = false;
};

std::string steps_text(const FileReport& report) {
  if (report.steps.empty()) return "no steps";
  const std::string first = std::to_string(report.steps.front()), last = std::to_string(report.steps.back());
  return first == last ? "step " + first : "steps " + first + " to " + last;
}

std::string summary(const FileReport& report) {
  if (!report.readable) return (report.truncated ? "cut off: " : "unreadable: ") + report.error;
  std::string text = report.conforms() ? "conforms" : "does not conform";
  if (report.rank >= 0) text += ", rank " + std::to_string(report.rank);
  if (!report.phase.empty()) text += ", phase " + report.phase;
  text += ", " + plural(report.events, "event") + ", " + steps_text(report);
  if (!report.complete) text += ", incomplete: " + missing_text(report.missing);
  return text;
}

void print_text(const FileReport& report, bool quiet) {
  if (quiet && report.conforms()) return;
  std::printf("%s: %s\n", printable(report.path).c_str(), printable(summary(report)).c_str());
  if (!report.readable) return;
  for (const Finding& finding : report.findings) {
    if (quiet && !finding.must) continue;
    std::printf("  %-5s %2d  %s", finding.must ? "error" : "note", finding.item, printable(finding.message).c_str());
    if (!finding.breaks.empty()) std::printf(" [breaks %s]", finding.breaks.c_str());
    if (finding.count > 1) std::printf(" (and %s more)", std::to_string(finding.count - 1).c_str());
    std::printf("\n");
  }
}

void write_report(JsonWriter& json, const FileReport& report) {
  json.open_object().member("path", report.path).member("readable", report.readable);
  json.member("conforms", report.conforms()).member("error", report.error).member("rank", report.rank);
  json.member("events", report.events).member("complete", report.complete).member("truncated", report.truncated);
  json.list("missing", report.missing);
  json.member("dropped", report.dropped).member("spec_hash", report.spec_hash).member("phase", report.phase);
  json.member("base_time_ns", report.base_time_ns).list("steps", report.steps).key("findings").open_list();
  for (const Finding& finding : report.findings) {
    json.open_object().member("item", finding.item).member("level", finding.must ? "error" : "note");
    json.member("breaks", finding.breaks);
    json.member("count", finding.count).member("message", finding.message).close_object();
  }
  json.close_list().close_object();
}

std::vector<FileReport> verify_all(const std::vector<std::string>& files) {
  std::map<std::string, std::vector<FileReport>> windows;
  for (const std::string& file : files) {
    std::error_code error;
    const auto whole = std::filesystem::absolute(file, error).lexically_normal();
    FileReport report = verify_trace(file);
    std::string window = window_of(whole.string());
    // Files of several windows, and occurrences of a phase, may lie in one folder.
    const bool is_named = window != whole.parent_path().string();
    if (!is_named && report.window) window += '\0' + std::to_string(*report.window);
    windows[window + '\0' + report.phase].push_back(std::move(report));
  }
  std::vector<FileReport> all;
  for (auto& [window, reports] : windows) {
    verify_together(reports);
    std::move(reports.begin(), reports.end(), std::back_inserter(all));
  }
  return all;
}

/// Windows that the schedule asked for and that have no trace, of one rank of a run.
struct LostWindows {
  std::string folder, sentence;
  int rank = -1;
  std::uint64_t count = 0;
};

/// The manifests stand in the run folder: at most two folders above a trace.
std::vector<LostWindows> lost_windows(const std::vector<std::string>& files) {
  std::set<std::string> folders;
  for (const std::string& file : files) {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::absolute(file, error).lexically_normal();
    for (int above = 0; above < 2; ++above) folders.insert((folder = folder.parent_path()).string());
  }
  std::vector<LostWindows> lost;
  for (const std::string& folder : folders) {
    for (const run::Manifest& manifest : run::read_manifests(folder)) {
      const run::WindowCounts& counts = manifest.counts;
      const bool is_over = run::has_last_file(manifest);
      const std::string sentence = counts.loss_text(is_over);
      const std::uint64_t number = counts.all_lost() + counts.failed + (is_over ? counts.waiting : 0);
      if (!sentence.empty()) lost.push_back({folder, sentence, manifest.rank.rank, number});
    }
  }
  return lost;
}

TracesSeen seen_in(const std::vector<FileReport>& reports) {
  TracesSeen seen{.files = reports.size()};
  for (const FileReport& report : reports) {
    seen.incomplete_files += !report.complete || report.truncated;
    seen.dropped += report.dropped;
    // A merged trace has no rank; its world size counts the merged ranks.
    if (report.merged) continue;
    seen.world_size = std::max(seen.world_size, report.world_size);
    if (report.rank >= 0) seen.ranks.push_back(report.rank);
  }
  return seen;
}

void print_json(const std::vector<FileReport>& reports, const std::vector<LostWindows>& lost,
                const std::vector<TraceRule>& rules) {
  JsonWriter json;
  json.open_list();
  for (const FileReport& report : reports) write_report(json.line_unless_first(1), report);
  for (const LostWindows& of : lost) {
    json.line_unless_first(1).open_object().member("folder", of.folder).member("rank", of.rank);
    json.member("windows_lost", of.count).member("message", of.sentence).close_object();
  }
  for (const TraceRule& rule : rules) {
    json.line_unless_first(1).open_object().member("rule", rule.key).member("holds", rule.holds);
    json.member("message", rule.sentence).close_object();
  }
  std::puts(json.close_list().text().c_str());
}

void print_text(const std::vector<FileReport>& reports, const std::vector<TraceGroup>& groups,
                const std::vector<LostWindows>& lost, const std::vector<TraceRule>& rules, bool quiet) {
  std::uint64_t conforming = 0, incomplete = 0;
  for (const FileReport& report : reports) {
    print_text(report, quiet);
    conforming += report.conforms();
    incomplete += report.readable && !report.complete;
  }
  for (const LostWindows& of : lost)
    std::printf("%s: rank %d: %s\n", printable(of.folder).c_str(), of.rank, of.sentence.c_str());
  if (!quiet) {
    const std::string losses = incomplete > 0 ? ", " + std::to_string(incomplete) + " incomplete" : "";
    std::printf("%s, %llu conforming%s\n", plural(reports.size(), "trace").c_str(),
                static_cast<unsigned long long>(conforming), losses.c_str());
    for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i)
      std::printf("%s, %s\n", printable(group_heading(groups[i], i)).c_str(),
                  plural(groups[i].paths.size(), "trace").c_str());
  }
  for (const TraceRule& rule : rules) {
    if (quiet && rule.holds.value_or(false)) continue;
    const char* const verdict = !rule.holds ? "cannot tell" : *rule.holds ? "holds" : "broken";
    std::printf("%s: %s: %s\n", rule.key.c_str(), verdict, printable(rule.sentence).c_str());
  }
}

/// check.ranks holds for each group, the other rules for all traces together.
std::vector<TraceRule> rules_of(const Spec& spec, const std::vector<FileReport>& reports,
                                const std::vector<LostWindows>& lost, const std::vector<TraceGroup>& groups) {
  TracesSeen seen = seen_in(reports);
  for (const LostWindows& of : lost) seen.lost_windows += of.count;
  if (groups.size() == 1) return check_traces(spec, seen);
  Spec of_all = spec, of_group;
  std::swap(of_all.check.ranks, of_group.check.ranks);
  std::vector<TraceRule> rules = check_traces(of_all, seen);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<FileReport> own;
    std::copy_if(reports.begin(), reports.end(), std::back_inserter(own), [&](const FileReport& report) {
      return std::find(groups[i].paths.begin(), groups[i].paths.end(), report.path) != groups[i].paths.end();
    });
    for (TraceRule& rule : check_traces(of_group, seen_in(own))) {
      rule.sentence = group_heading(groups[i], i) + ": " + rule.sentence;
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

int run(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "verify",
      "Checks that trace files meet the needs of Perfetto, HTA, TensorBoard and other readers, that profshim's\n"
      "traces keep their promises, and that the files of one window are consistent. With --spec, also checks the rules "
      "min_traces, ranks and complete\n"
      "of the spec's [check] table.");
  arguments.add("PATH", options.paths, "Trace files, or folders to search for them").required();
  arguments.add("-s,--spec", options.spec, "Spec with the rules that the traces must meet").shown_as("FILE");
  arguments.add("--json", options.json, "Print a JSON list: one object per file, then one per rule");
  arguments.add("--quiet", options.quiet,
                "Print only traces that do not conform, with the reasons, and rules that do not hold");
  arguments.footer(
      "Example:\n  profshim verify ./profshim/my-run --spec ci.toml\n\n" + std::string(kExitStatus) +
      "\nA problem is an error or a broken rule; a note is none. Unreadable traces are failures. What a trace lacks,\n"
      "and windows without a trace, are shown; they are problems only with check.complete = true.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  LoadedSpec spec;
  if (!load_spec_file(options.spec, spec)) return kFailure;

  std::vector<std::string> files;
  const bool all = collect_traces(options.paths, files, true);
  if (files.empty()) return kFailure;
  const std::vector<FileReport> reports = verify_all(files);
  const std::vector<TraceGroup> groups = groups_of(files);
  const std::vector<LostWindows> lost = lost_windows(files);
  const std::vector<TraceRule> rules = rules_of(spec.spec, reports, lost, groups);
  if (options.json) {
    print_json(reports, lost, rules);
  } else {
    print_text(reports, groups, lost, rules, options.quiet);
  }
  const auto any = [&](const auto& test) { return std::any_of(reports.begin(), reports.end(), test); };
  if (!all || any([](const FileReport& r) { return !r.readable; })) return kFailure;
  const bool broken = std::any_of(rules.begin(), rules.end(), [](const TraceRule& r) { return r.holds == false; });
  return broken || any([](const FileReport& r) { return !r.conforms(); }) ? kProblemsFound : kSuccess;
}

}  // namespace

extern const Command kVerify;
const Command kVerify = {"verify", "check trace files: structure, Kineto format, consistency between ranks", run};

}  // namespace profshim::cli
