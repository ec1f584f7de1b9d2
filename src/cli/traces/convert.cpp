#include "profshim/convert.h"

#include <cstdio>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/text/message_text.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string out, python = "python3";
  bool quiet = false;
};

bool is_for_perfetto(const std::string& out) { return out.ends_with(".pftrace"); }
bool is_for_columns(const std::string& out) { return out.ends_with(".parquet") || out.ends_with('/'); }

int invalid(const std::string& line) {
  std::fprintf(stderr, "profshim convert: %s\n", printable(line).c_str());
  return kFailure;
}

int run(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "convert",
      "Converts traces of profshim or torch.profiler to another format. The ending of OUT selects it:\n"
      "  .pftrace   Perfetto's own format, from one trace (which may be a merged one)\n"
      "  .parquet   one table of any number of traces, for DuckDB, Spark and pandas\n"
      "  /          the same table as a folder with one file per trace: OUT/rank=N/NAME.parquet. Several\n"
      "             commands may write to one folder at the same time, for example one on each node.");
  arguments.add("PATH", options.paths, "Trace files, or folders to search for them").required();
  arguments.add("-o,--output", options.out, "Output file or folder").required();
  arguments.add("--python", options.python, "Python interpreter with pyarrow, for Parquet (default: python3)");
  arguments.add("-q,--quiet", options.quiet, "Print only problems");
  arguments.footer(
      "Examples:\n"
      "  profshim convert merged.pt.trace.json.gz -o merged.pftrace\n"
      "  profshim convert ./profshim/my-run -o my-run.parquet\n\n" +
      std::string(kExitStatus) +
      "\nA failure leaves OUT as it was. If a trace ends early, the part before the end is converted and marked,\n"
      "and the exit status is 2.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  const bool perfetto = is_for_perfetto(options.out);
  if (!perfetto && !is_for_columns(options.out))
    return invalid("-o " + options.out + ": must end in .pftrace, .parquet or /");
  std::vector<std::string> files;
  if (!collect_traces(options.paths, files)) return kFailure;
  if (perfetto && files.size() != 1) {
    return invalid("a .pftrace holds one trace, but " + std::to_string(files.size()) +
                   " are given; combine them with `profshim merge` first");
  }
  const ConvertResult result =
      perfetto ? convert_to_perfetto(files[0], options.out) : convert_to_parquet({files, options.out, options.python});
  for (const std::string& warning : result.warnings)
    std::fprintf(stderr, "profshim convert: %s\n", printable(warning).c_str());
  if (!result.error.empty()) return invalid(result.error);
  if (!options.quiet) {
    std::printf("%s: %llu events of %s, %s\n", printable(options.out).c_str(),
                static_cast<unsigned long long>(result.events), plural(files.size(), "trace").c_str(),
                format_size(result.bytes).c_str());
  }
  return result.truncated ? kFailure : kSuccess;
}

}  // namespace

extern const Command kConvert;
const Command kConvert = {"convert", "convert traces for Perfetto (.pftrace) or DuckDB, Spark and pandas (.parquet)",
                          run};

}  // namespace profshim::cli
