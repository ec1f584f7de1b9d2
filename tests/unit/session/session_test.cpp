#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/trace/reader.h"
#include "unit/cli/tool.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

struct Trace {
  FileReport report;
  std::uint64_t calls = 0, dropped = 0;
  bool truncated = false;
  std::string limit, spec;
};

struct Recording {
  int status = -1;
  std::string said;
  std::uint64_t handed = 0;
  std::vector<Trace> traces;

  std::uint64_t calls() const {
    std::uint64_t sum = 0;
    for (const Trace& trace : traces) sum += trace.calls;
    return sum;
  }
};

std::uint64_t number_of(std::string_view json, std::string_view name) {
  std::uint64_t found = 0;
  json_leaves(json, [&](std::string_view path, const ReadEvent::ReadArg& value) {
    if (path == name) found = static_cast<std::uint64_t>(value.integer);
  });
  return found;
}

Trace read(const std::string& path) {
  Trace trace;
  trace.report = verify_trace(path);
  TraceVisitor visitor;
  visitor.metadata = [&trace](std::string_view key, std::string_view json, bool) {
    if (key != "profshim") return;
    trace.calls = number_of(json, "calls");
    trace.dropped = number_of(json, "dropped_events");
    trace.truncated = number_of(json, "truncated") != 0;
    json_leaves(json, [&trace](std::string_view name, const ReadEvent::ReadArg& value) {
      if (name == "limit") trace.limit = value.text;
      if (name == "spec") trace.spec = value.text;
    });
  };
  read_trace(path, visitor);
  return trace;
}

class SessionTest : public ::testing::Test {
 protected:
  Recording record(const std::string& arguments, const std::string& settings) {
    const std::string traces = folder_.path() + "/traces";
    const test::ToolRun run =
        test::run_shell("env PROFSHIM_FOLDER=" + traces + " PROFSHIM_SET='limits.disk_free=0 " + settings +
                        "' '" PROFSHIM_BUILD_DIR "/tests/apps_session/record_threads' " + arguments);
    Recording recording;
    recording.status = run.status;
    recording.said = run.err;
    recording.handed = number_of(run.out, "handed");
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(traces)) {
      if (entry.path().string().find(".pt.trace.json") != std::string::npos) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) recording.traces.push_back(read(path));
    return recording;
  }

  static void expect_conforming(const Recording& recording) {
    EXPECT_EQ(recording.status, 0) << recording.said;
    for (const Trace& trace : recording.traces) {
      EXPECT_TRUE(trace.report.readable) << trace.report.path << ": " << trace.report.error;
      EXPECT_TRUE(trace.report.conforms()) << trace.report.path << ": " << trace.report.findings.front().message;
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(SessionTest, WholeRunHoldsEveryRangeOfEveryThread) {
  const Recording recording = record("3 20000 2", "steps.source=none");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_GE(recording.handed, 40000u);
  EXPECT_EQ(recording.traces[0].calls + recording.traces[0].dropped, recording.handed);
  EXPECT_EQ(recording.traces[0].dropped, 0u);
}

// The spool truncates long names, but `recover` needs the whole spec.
TEST_F(SessionTest, ALongSpecIsKeptWhole) {
  std::string names;
  for (int i = 0; i < 1000; ++i) names += "name-" + std::to_string(i) + "-of-a-program,";

  const Recording recording = record("1 10 1", "steps.source=none process.exclude=[" + names + "the-last-one]");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_NE(recording.traces[0].spec.find("the-last-one"), std::string::npos);
}

TEST_F(SessionTest, EventsThatDoNotFitAreCounted) {
  const Recording recording =
      record("3 300000 2", "steps.source=none limits.host_memory=16MiB limits.on_limit=drop_new output.gzip=false");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_GT(recording.traces[0].dropped, 0u);
  EXPECT_EQ(recording.traces[0].calls + recording.traces[0].dropped, recording.handed);
}

TEST_F(SessionTest, DroppedOldEventsAreCounted) {
  const Recording recording =
      record("3 300000 2", "steps.source=none limits.host_memory=16MiB limits.on_limit=drop_old output.gzip=false");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_GT(recording.traces[0].dropped, 0u);
  EXPECT_EQ(recording.traces[0].calls + recording.traces[0].dropped, recording.handed);
}

TEST_F(SessionTest, WindowsOpenAndCloseWhileThreadsWork) {
  const Recording recording =
      record("3 2000 40",
             "steps.source=nvtx steps.pattern=\"step *\" schedule.skip_first=0 schedule.wait=0 schedule.warmup=1 "
             "schedule.active=3 schedule.repeat=0");

  expect_conforming(recording);
  EXPECT_EQ(recording.traces.size(), 10u) << recording.said;
  for (const Trace& trace : recording.traces) {
    EXPECT_EQ(trace.report.steps.size(), 3u) << trace.report.path;
    // On a busy machine, memory may not be ready in time.
    EXPECT_EQ(trace.report.complete, trace.dropped == 0) << trace.report.path;
    EXPECT_GE(trace.calls + trace.dropped, 6000u) << trace.report.path;
  }
  EXPECT_LE(recording.calls(), recording.handed);
}

TEST_F(SessionTest, NoMoreWindowsThanTotalTraces) {
  const Recording recording =
      record("2 500 40",
             "steps.source=nvtx steps.pattern=\"step *\" schedule.skip_first=0 schedule.warmup=0 schedule.active=1 "
             "schedule.repeat=0 limits.total_traces=3");

  expect_conforming(recording);
  EXPECT_EQ(recording.traces.size(), 3u);
}

TEST_F(SessionTest, AWindowThatLastsTooLongIsClosed) {
  const Recording recording = record("2 200000 4", "steps.source=none limits.window_seconds=0.01");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_TRUE(recording.traces[0].truncated);
  EXPECT_EQ(recording.traces[0].limit, "limits.window_seconds");
  EXPECT_LT(recording.handed, 800'000u);
  EXPECT_LE(recording.calls(), recording.handed);
}

TEST_F(SessionTest, FullMemoryClosesTheWindowAndTheNextOneWorks) {
  const Recording recording =
      record("3 200000 12",
             "steps.source=nvtx steps.pattern=\"step *\" schedule.skip_first=0 schedule.wait=1 schedule.warmup=1 "
             "schedule.active=2 schedule.repeat=0 limits.host_memory=16MiB output.gzip=false");

  expect_conforming(recording);
  ASSERT_GE(recording.traces.size(), 2u) << recording.said;
  EXPECT_TRUE(std::all_of(recording.traces.begin(), recording.traces.end(),
                          [](const Trace& t) { return t.truncated && t.limit == "limits.host_memory"; }));
}

TEST_F(SessionTest, StepsOfAWindowAreNeverOverwritten) {
  const Recording recording =
      record("1 1 80000",
             "steps.source=nvtx steps.pattern=\"step *\" schedule.skip_first=0 schedule.warmup=0 "
             "schedule.active=1000000 output.gzip=false");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u) << recording.said;
  EXPECT_EQ(recording.traces[0].limit, "too many steps in one window");
  EXPECT_EQ(recording.traces[0].report.steps.size(), 65536u);
}

TEST_F(SessionTest, EndsCleanlyWhileThreadsStillWork) {
  const Recording recording = record("3 20000 3 early", "steps.source=none");

  expect_conforming(recording);
  ASSERT_EQ(recording.traces.size(), 1u);
  EXPECT_GE(recording.calls(), 60000u);
  EXPECT_LE(recording.calls(), recording.handed);
}

}  // namespace
}  // namespace profshim
