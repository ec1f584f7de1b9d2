// profshim convert PATH... -o OUT: finished traces in the formats of others.
#include "profshim/convert.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/printable.h"
#include "profshim/base/size_text.h"
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
  return kInvalid;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Writes finished traces, ours or those of torch.profiler, in the formats of others. What OUT ends in decides:\n"
      "  .pftrace   one trace (also a merged one) in Perfetto's own format\n"
      "  .parquet   any number of traces as one table for DuckDB, Spark, pandas\n"
      "  /          the same as a folder, OUT/rank=N/NAME.parquet for each trace: commands may fill it side by side,\n"
      "             say one for each node of a job of thousands of ranks\n"
      "Examples: profshim convert merged.pt.trace.json.gz -o merged.pftrace\n"
      "          profshim convert ./profshim/my-run -o my-run.parquet\n"
      "Exit code: 0 fine, 2 could not (OUT is not there, or what it was), or a file that ends early (what stands "
      "before\n"
      "the end is converted, and OUT says so)."};
  app.name("profshim convert");
  app.add_option("PATH", options.paths, "Trace files, or folders to search for them")->required();
  app.add_option("-o,--output", options.out, "What to write")->required();
  app.add_option("--python", options.python, "Parquet: an interpreter that has pyarrow. Default: python3");
  app.add_flag("-q,--quiet", options.quiet, "Only problems");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;
  const bool perfetto = is_for_perfetto(options.out);
  if (!perfetto && !is_for_columns(options.out))
    return invalid("-o " + options.out + ": ends in none of .pftrace, .parquet and /");
  std::vector<std::string> files;
  if (!collect_traces(options.paths, files)) return kInvalid;
  if (perfetto && files.size() != 1) {
    return invalid(".pftrace is made of one trace, and these are " + std::to_string(files.size()) +
                   ": `profshim merge` makes one of them");
  }
  const ConvertResult result =
      perfetto ? convert_to_perfetto(files[0], options.out) : convert_to_parquet({files, options.out, options.python});
  for (const std::string& warning : result.warnings)
    std::fprintf(stderr, "profshim convert: %s\n", printable(warning).c_str());
  if (!result.error.empty()) return invalid(result.error);
  if (!options.quiet) {
    std::printf("%s: %llu events of %zu trace%s, %s\n", printable(options.out).c_str(),
                static_cast<unsigned long long>(result.events), files.size(), files.size() == 1 ? "" : "s",
                format_size(result.bytes).c_str());
  }
  return result.truncated ? kInvalid : kFine;
}

}  // namespace

extern const Command kConvert;
const Command kConvert = {"convert", "traces for Perfetto (.pftrace) and for DuckDB, Spark, pandas (.parquet)", run};

}  // namespace profshim::cli
