#include "profshim/analysis/merge.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json/document.h"
#include "profshim/spec.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"
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

bool are_of_one_window(const std::vector<std::string>& given, const std::vector<std::string>& traces) {
  const bool has_folder = std::any_of(given.begin(), given.end(), [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
  });
  for (const std::string& trace : traces) {
    if (!has_folder || window_of(trace) == window_of(traces[0])) continue;
    std::fprintf(stderr, "profshim merge: %s and %s are of different windows; name the folder or files of one window\n",
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
    std::printf("%6s  %-16s  %-11s  %8llu  %14s  %10s  ", number.c_str(), printable(rank.host).c_str(),
                printable(rank.clock).c_str(), static_cast<unsigned long long>(rank.moments),
                fixed_text(rank.offset_us, 3).c_str(), fixed_text(rank.drift_ppm, 3).c_str());
    std::printf("%10s\n", rank.error_us < 0 ? "not known" : fixed_text(rank.error_us, 3).c_str());
  }
  std::printf("%s: %llu events of %zu ranks; arrows for %llu messages, %llu collectives, %llu requests\n",
              printable(out).c_str(), static_cast<unsigned long long>(result.events), result.ranks.size(),
              static_cast<unsigned long long>(result.messages), static_cast<unsigned long long>(result.collectives),
              static_cast<unsigned long long>(result.requests));
  if (result.messages_left_out > 0) {
    std::printf("no arrows for %llu messages: the windows of sender and receiver hold different numbers of them\n",
                static_cast<unsigned long long>(result.messages_left_out));
  }
}

/// clock.sync of the spec in a trace; a trace of another tool has none.
ClockSync sync_of_spec(const std::string& trace) {
  ClockSync sync = ClockSync::kCollective;
  TraceVisitor visitor;
  visitor.metadata = [&sync](std::string_view key, std::string_view json, bool) {
    if (key != schema::top::kProfshim) return;
    const std::string spec = JsonDocument(json).root().member(schema::ours::kSpec).text();
    if (const LoadedSpec loaded = load_spec_text(spec, "spec"); loaded.ok()) sync = loaded.spec.clock_sync;
  };
  visitor.event = [](const ReadEvent&) { return false; };
  read_trace(trace, visitor);
  return sync;
}

ClockSync clock_sync(const std::string& name, const std::string& trace) {
  if (name.empty()) return sync_of_spec(trace);
  if (name == "anchors") return ClockSync::kAnchors;
  return name == "none" ? ClockSync::kNone : ClockSync::kCollective;
}

int run(int argc, char** argv) {
  MergeOptions options;
  std::vector<std::string> given;
  bool quiet = false;
  Arguments arguments(
      "merge",
      "Merges the traces of several ranks into one, on one clock. Draws arrows from the sender of each message\n"
      "to its receiver, and from the last rank at each collective to the ranks that waited for it. Estimates\n"
      "the offsets of the clocks from matching collectives, and prints a bound of the error.");
  arguments.add("PATH", given, "Traces of the ranks of one window, or the folder that holds them").required();
  arguments.add("-o,--output", options.out, "Output file; compressed with gzip if it ends in .gz").required();
  std::string sync;
  arguments
      .add("--sync", sync,
           "How to align the clocks. collective: by matching collectives, or else by wall-clock time; anchors: "
           "by wall-clock time; none: keep the times (default: clock.sync of the traces' spec, or else collective)")
      .one_of({"collective", "anchors", "none"})
      .shown_as("MODE");
  arguments.add("--assume-clock", options.assume_clock,
                "Also merge traces that cannot be aligned with the others, with their times unchanged");
  int attempt = -1;
  arguments.add("--attempt", attempt, kAttemptHelp).range(0);
  arguments.add("-q,--quiet", quiet, "Print only problems");
  arguments.footer("Example:\n  profshim merge ./profshim/my-run -o all.pt.trace.json.gz\n\n" +
                   std::string(kExitStatus) +
                   "\nIf a trace ends early, the part before the end is merged, and the exit status is 2.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  if (!collect_traces(given, options.paths, false, attempt) || refuse_groups("merge", groups_of(options.paths)) ||
      !are_of_one_window(given, options.paths)) {
    return kFailure;
  }
  options.sync = clock_sync(sync, options.paths[0]);
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
    return kFailure;
  }
  if (!quiet) print_result(result, options.out);
  return result.truncated ? kFailure : kSuccess;
}

}  // namespace

extern const Command kMerge;
const Command kMerge = {"merge", "merge the traces of several ranks, on one clock and with arrows between them", run};

}  // namespace profshim::cli
