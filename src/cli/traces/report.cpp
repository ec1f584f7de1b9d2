// profshim report PATH... -o FILE: what traces say, as a page for people.
#include "profshim/analysis/report.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/atomic_file.h"
#include "profshim/base/printable.h"
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
  std::fprintf(stderr, "profshim report: %s: cannot be written: %s\n", printable(out).c_str(),
               std::strerror(file.error()));
  return false;
}

int run(int argc, char** argv) {
  std::vector<std::string> given;
  std::string out = "profshim-report.html";
  bool quiet = false;
  CLI::App app{
      "Writes one HTML file to open in a browser, which needs no network: duration of the steps and what their time "
      "went\n"
      "into, by rank; who was late and who waited for it; what took the time; how well clocks are known; what was "
      "lost.\n"
      "Of ours, of torch.profiler's, of all ranks or a merged trace. The sentences at its head are printed, too.\n"
      "Example: profshim report ./profshim/my-run -o my-run.html\n"
      "Exit code: 0 fine, 2 no trace, unreadable, or one that ends early (what stands before the end is shown)."};
  app.name("profshim report");
  app.add_option("PATH", given, "Trace files of one job, or folders to search for them")->required();
  app.add_option("-o,--output", out, "The file to write, or replace. Default: profshim-report.html in this folder");
  app.add_flag("-q,--quiet", quiet, "Only problems");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;

  std::vector<std::string> files;
  if (!collect_traces(given, files)) return kInvalid;
  if (is_one_of(out, files)) {
    std::fprintf(stderr, "profshim report: %s is one of the traces: name another file with -o\n",
                 printable(out).c_str());
    return kInvalid;
  }
  const Report report = make_report(files);
  for (const std::string& warning : report.warnings) std::fprintf(stderr, "profshim: %s\n", printable(warning).c_str());
  if (!write_page(out, report_page(report))) return kInvalid;
  if (!quiet) {
    for (const ReportFinding& finding : report.verdict) std::printf("%s\n", printable(finding.text).c_str());
    std::printf("%s: open it in a browser\n", printable(out).c_str());
  }
  return report.truncated ? kInvalid : kFine;
}

}  // namespace

extern const Command kReport;
const Command kReport = {"report", "what traces say, as one HTML file for people", run};

}  // namespace profshim::cli
