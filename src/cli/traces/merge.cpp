// profshim merge PATH... -o FILE: the traces of several ranks as one.
#include "profshim/analysis/merge.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/command.h"
#include "profshim/base/printable.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

class Progress {
 public:
  explicit Progress(bool wanted) : wanted_(wanted) {}
  ~Progress() {
    if (shown_ >= 0) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double done) {
    const int now = static_cast<int>(done * 100);
    if (!wanted_ || now == shown_) return;
    shown_ = now;
    constexpr int kWidth = 40;
    const int filled = now * kWidth / 100;
    std::fprintf(stderr, "\r[%.*s%*s] %3d %%", filled, "########################################", kWidth - filled, "",
                 now);
    std::fflush(stderr);
  }

 private:
  const bool wanted_;
  int shown_ = -1;
};

/// A folder with several windows is not one trace.
bool are_of_one_window(const std::vector<std::string>& given, const std::vector<std::string>& traces) {
  const bool has_folder = std::any_of(given.begin(), given.end(), [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
  });
  for (const std::string& trace : traces) {
    if (!has_folder || window_of(trace) == window_of(traces[0])) continue;
    std::fprintf(stderr, "profshim merge: %s and %s are of different windows: give the folder or the files of one\n",
                 printable(traces[0]).c_str(), printable(trace).c_str());
    return false;
  }
  return true;
}

void print_result(const MergeResult& result, const std::string& out) {
  std::printf("%6s  %-16s  %-11s  %8s  %14s  %10s  %10s\n", "rank", "host", "clock", "moments", "offset (us)",
              "drift (ppm)", "error (us)");
  for (const MergedRank& rank : result.ranks) {
    const std::string number = rank.rank >= 0 ? std::to_string(rank.rank) : "?";
    std::printf("%6s  %-16s  %-11s  %8llu  %14.3f  %10.3f  ", number.c_str(), printable(rank.host).c_str(),
                printable(rank.clock).c_str(), static_cast<unsigned long long>(rank.moments), rank.offset_us,
                rank.drift_ppm);
    if (rank.error_us < 0) {
      std::printf("%10s\n", "not known");
    } else {
      std::printf("%10.3f\n", rank.error_us);
    }
  }
  std::printf("%s: %llu events of %zu ranks; arrows for %llu messages, %llu collectives, %llu requests\n",
              printable(out).c_str(), static_cast<unsigned long long>(result.events), result.ranks.size(),
              static_cast<unsigned long long>(result.messages), static_cast<unsigned long long>(result.collectives),
              static_cast<unsigned long long>(result.requests));
  if (result.messages_left_out > 0) {
    std::printf("no arrows for %llu messages: their sender's window has not as many as their receiver's\n",
                static_cast<unsigned long long>(result.messages_left_out));
  }
}

int run(int argc, char** argv) {
  MergeOptions options;
  std::vector<std::string> given;
  bool quiet = false;
  CLI::App app{
      "Writes the traces of several ranks as one, on one clock, with arrows from who sent a message to who received "
      "it, "
      "and from the last one at a collective to those who waited. Clocks are compared by what the ranks did together; "
      "the error that is stated holds whoever was late.\n"
      "Exit code: 0 fine, 2 cannot be merged, or a file ends early (what stands before the end is merged)."};
  app.name("profshim merge");
  app.add_option("PATH", given, "Traces of the ranks of one window, or the folder that holds them")->required();
  app.add_option("-o,--output", options.out, "The file to write; gzip when it ends in .gz")->required();
  const std::map<std::string, ClockSync> names = {
      {"collective", ClockSync::kCollective}, {"anchors", ClockSync::kAnchors}, {"none", ClockSync::kNone}};
  app.add_option("--sync", options.sync,
                 "collective: by what ranks did together, else by the time of the day; anchors: by the time of the day "
                 "alone; none: times as they are")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case));
  app.add_flag("--assume-clock", options.assume_clock, "Also traces whose times are not known to be of one clock");
  app.add_flag("-q,--quiet", quiet, "Only problems");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kInvalid;
  }
  if (!collect_traces(given, options.paths) || !are_of_one_window(given, options.paths)) return kInvalid;
  MergeResult result;
  {
    Progress progress(!quiet && isatty(STDERR_FILENO) != 0);
    options.on_progress = [&](double done) { progress.show(done); };
    result = merge_traces(options);
  }
  for (const std::string& warning : result.warnings)
    std::fprintf(stderr, "profshim merge: %s\n", printable(warning).c_str());
  if (!result.error.empty()) {
    std::fprintf(stderr, "profshim merge: %s\n", printable(result.error).c_str());
    return kInvalid;
  }
  if (!quiet) print_result(result, options.out);
  return result.truncated ? kInvalid : kFine;
}

}  // namespace

extern const Command kMerge;
const Command kMerge = {"merge", "traces of several ranks as one, on one clock, with arrows between them", run};

}  // namespace profshim::cli
