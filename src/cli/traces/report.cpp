#include "profshim/analysis/report.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis/memory.h"
#include "profshim/base/atomic_file.h"
#include "profshim/base/text/message_text.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

bool is_one_of(const std::string& out, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;
    if (std::filesystem::equivalent(out, file, error)) return true;
  }
  return false;
}

bool write_page(const std::string& out, const std::string& page) {
  AtomicFile file;
  if (file.open(out) && file.write(page.data(), page.size()) && file.publish(AtomicFile::Existing::kReplace))
    return true;
  std::fprintf(stderr, "profshim report: cannot write %s: %s\n", printable(out).c_str(), error_text(file.error()));
  return false;
}

Report report_of(const std::vector<std::string>& files, bool several_runs) {
  const std::vector<TraceGroup> groups = groups_of(files, several_runs);
  std::vector<std::string> titles;
  for (const TraceGroup& group : groups) titles.push_back(group_heading(group, titles.size()));
  return make_report(groups, titles);
}

Report memory_report_of(const std::vector<std::string>& files) {
  if (files.size() == 1) return make_memory_report(files[0]);
  throw std::runtime_error("--memory makes the page of one trace, but there are " + std::to_string(files.size()) +
                           ": name one, such as " + files[0]);
}

void print_findings(const Report& report) {
  for (const ReportFinding& finding : report.verdict) std::printf("%s\n", printable(finding.text).c_str());
  for (const Report& group : report.groups) {
    std::printf("%s\n", printable(group.title).c_str());
    for (const ReportFinding& finding : group.verdict) std::printf("  %s\n", printable(finding.text).c_str());
  }
}

int run(int argc, char** argv) {
  std::vector<std::string> given;
  std::string out = "profshim-report.html";
  bool quiet = false, several_runs = false, memory = false;
  Arguments arguments(
      "report",
      "Writes one HTML file that a browser shows without a network connection: duration and breakdown of the\n"
      "steps per rank; phases of the spec; ranks that were late and ranks that waited for them; the functions\n"
      "that took most of the time; clock errors; lost events. Reads traces of profshim and torch.profiler, one\n"
      "per rank or merged. Groups of processes of one launch (trainers, rollout engines) are shown apart on the\n"
      "page. Also prints the main findings. With --memory, the page is about the memory of one trace.");
  arguments.add("PATH", given, "Trace files of one job, or folders to search for them").required();
  arguments.add("--memory", memory,
                "Show the memory of one trace over time: peaks, what allocated them, and what was alive there");
  arguments.add("--several-runs", several_runs, "Show several runs of profshim apart, which is an error else");
  int attempt = -1;
  arguments.add("--attempt", attempt, kAttemptHelp).range(0);
  arguments.add("-o,--output", out, "Output file, replaced if it exists (default: profshim-report.html)");
  arguments.add("-q,--quiet", quiet, "Print only problems");
  arguments.exclusive({"--memory", "--several-runs"});
  arguments.footer(
      "Examples:\n  profshim report ./profshim/my-run -o my-run.html\n  profshim report --memory "
      "rank0.11.pt.trace.json -o memory.html\n\n" +
      std::string(kExitStatus) +
      "\nIf a trace ends early, the part before the end is shown, and the exit status is 2.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;

  std::vector<std::string> files;
  if (!collect_traces(given, files, false, attempt)) return kFailure;
  if (is_one_of(out, files)) {
    std::fprintf(stderr, "profshim report: %s is one of the traces; name another file with -o\n",
                 printable(out).c_str());
    return kFailure;
  }
  const Report report = memory ? memory_report_of(files) : report_of(files, several_runs);
  for (const std::string& warning : report.warnings) std::fprintf(stderr, "profshim: %s\n", printable(warning).c_str());
  if (!write_page(out, report_page(report))) return kFailure;
  if (!quiet) {
    print_findings(report);
    std::printf("%s: open it in a browser\n", printable(out).c_str());
  }
  return report.truncated ? kFailure : kSuccess;
}

}  // namespace

extern const Command kReport;
const Command kReport = {"report", "write an HTML report of traces", run};

}  // namespace profshim::cli
