#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "unit/trace/sample_trace.h"

namespace profshim::e2e {
namespace {

std::map<int, std::map<std::string, int>> calls_of(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.c_str());
  std::map<int, std::map<std::string, int>> calls;
  EXPECT_TRUE(document.IsObject()) << json;
  if (!document.IsObject()) return calls;
  for (const auto& row : document["rows"].GetArray()) {
    if (row["asynchronous"].GetBool()) continue;
    calls[row["node_id"].GetInt()][row["name"].GetString()] += row["calls"].GetInt();
  }
  return calls;
}

TEST(Summary, CountsTheCallsOfEachRankOfAnMpiJob) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/allreduce_loop")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    const Outcome outcome = run(job);
    ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

    const Outcome json = profshim({"summary", "--json", scratch / "traces"});
    const Outcome text = profshim({"summary", scratch / "traces"});

    EXPECT_EQ(json.ending(), "exit 0") << json.err;
    const auto calls = calls_of(json.out);
    const auto printed = printed_counts(outcome.out);
    EXPECT_EQ(printed.size(), 2u) << outcome.out;
    for (const auto& [rank, functions] : printed) {
      ASSERT_TRUE(calls.count(rank)) << rank;
      for (const auto& [function, count] : functions) {
        const auto at = calls.at(rank).find(function);
        EXPECT_EQ(at == calls.at(rank).end() ? 0 : at->second, count) << function << " on rank " << rank;
      }
    }
    EXPECT_EQ(text.ending(), "exit 0") << text.err;
    EXPECT_EQ(text.err, "");
    EXPECT_NE(text.out.find("# of Calls       Node ID  \n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("Dropped events: 0\n"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("Device busy (union): no device activity\n"), std::string::npos) << text.out;
  }
}

TEST(Summary, AddsUpTheRanksOfANodeOrOfTheJob) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 4, {built("tests/apps/openmpi/allreduce_loop")});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  ASSERT_EQ(run(job).ending(), "exit 0");
  const std::string folder = scratch / "traces";
  std::map<std::string, int> sums;
  for (const auto& [rank, functions] : calls_of(profshim({"summary", "--json", folder}).out)) {
    for (const auto& [function, count] : functions) sums[function] += count;
  }
  ASSERT_FALSE(sums.empty());

  const std::string by_node = profshim({"summary", "--json", "--group-by", "node", folder}).out,
                    of_all = profshim({"summary", "--json", "--group-by", "all", folder}).out;
  const Outcome text = profshim({"summary", "--group-by", "node", folder}),
                views = profshim({"summary", "--mpi", "--group-by", "node", folder});

  EXPECT_EQ(calls_of(by_node), (std::map<int, std::map<std::string, int>>{{0, sums}}));
  EXPECT_NE(by_node.find("\"ranks\": [0, 1, 2, 3]"), std::string::npos) << by_node;
  EXPECT_EQ(calls_of(of_all), (std::map<int, std::map<std::string, int>>{{-1, sums}}));
  EXPECT_NE(text.out.find(", ranks 0-3\n"), std::string::npos) << text.out;
  EXPECT_EQ(views.ending(), "exit 2");
  EXPECT_EQ(views.err, "profshim summary: --group-by is for the table: add --table\n");
}

TEST(Summary, ShowsDeviceUseBelowTheTable) {
  const Outcome outcome = profshim({"summary", PROFSHIM_SOURCE_DIR "/tests/golden/gpu/rank1.5.pt.trace.json",
                                    "--time-unit", "us", "--row-limit", "3", "--sort-by", "cuda_time_total"});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.out.find("Device busy (union): 795.000us\nExposed communication: 450.000us\nDropped events: 0\n"
                             "Rows: 3 of 26; --row-limit -1 shows all\n"),
            std::string::npos)
      << outcome.out;
}

TEST(Summary, IsCsvWithOneLineForEachRow) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a.json", test::sample_trace());

  const Outcome outcome = profshim({"summary", "--csv", "--sort-by", "none", path});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 7) << outcome.out;
  EXPECT_NE(outcome.out.find("\n\"MPI_Irecv\",-1,0,0,0,3,60.375,60.375,20.125,"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n\"MPI_Irecv\",-1,0,0,1,3,0.000,2250.750,750.250,"), std::string::npos) << outcome.out;
}

TEST(Summary, CountsAFileGivenTwiceOnce) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("rank0.11.pt.trace.json", test::sample_trace());

  const Outcome outcome = profshim({"summary", path, scratch.path()});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out.find("Node ID"), std::string::npos) << outcome.out;
}

std::string compressed(const std::string& text) {
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<test::MemorySink>(packed), 1, 0);
  sink->write(text.data(), text.size());
  sink->close();
  return packed;
}

void expect_refused(const std::string& path, const std::string& why) {
  const Outcome outcome = profshim({"summary", path});

  EXPECT_EQ(outcome.ending(), "exit 2") << path;
  EXPECT_EQ(outcome.out, "") << path;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("profshim: " + path + ": ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
}

TEST(Summary, ReportsUnreadableFilesInOneLine) {
  const ScratchFolder scratch;
  const std::string whole = test::sample_trace();

  expect_refused(scratch / "no-such-file.json", "no such file");
  expect_refused(scratch.path(), "no *.pt.trace.json");
  expect_refused(scratch.write("text.json", "hello\n"), "byte ");
  expect_refused(scratch.write("empty.json", ""), "byte 0");
  expect_refused(scratch.write("other.json", "{\"a\": 1}"), "traceEvents is missing");
  expect_refused(scratch.write("none.json", "{\"traceEvents\": []}"), "no events in it");
  expect_refused(scratch.write("nul.json", R"({"traceEvents": [{"ph": "X", "ts": 1, "dur": nul}]})"), "Invalid value");
  expect_refused(scratch.write("cut.json.gz", compressed(whole).substr(0, 100)), "the gzip data end early");
}

TEST(Summary, OddBytesAreReadWithOneWarning) {
  const ScratchFolder scratch;
  std::string odd = test::sample_trace();
  odd.insert(odd.find("\"dur\":"), "\"x\": NaN, \"y\": \"\n\", ");
  const std::string path = scratch.write("odd.json", odd);
  const Outcome outcome = profshim({"summary", path});

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(outcome.out, profshim({"summary", scratch.write("whole.json", test::sample_trace())}).out);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << outcome.err;
  EXPECT_NE(outcome.err.find(path + ": 1 raw control character in a string (at byte "), std::string::npos);
  EXPECT_NE(outcome.err.find(path + ": 1 number that is not finite (at byte "), std::string::npos);
}

TEST(Summary, ADamagedEventIsLeftOutAndTheStatusIsTwo) {
  const ScratchFolder scratch;
  std::string damaged = test::sample_trace();
  damaged[damaged.find("\"dur\":") + 5] = 'x';
  const Outcome outcome = profshim({"summary", scratch.write("damaged.json", damaged)});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_NE(outcome.err.find("damaged in 1 place: byte "), std::string::npos) << outcome.err;
  EXPECT_FALSE(outcome.out.empty());
}

TEST(Summary, TracesOfTwoJobsAreRefused) {
  const ScratchFolder scratch;
  const std::string four = scratch.write("a.json", test::sample_trace({.rank = 0})),
                    two = scratch.write("b.json", test::sample_trace({.rank = 1, .world_size = 2}));
  for (const char* view : {"--table", "--steps"}) {
    const Outcome outcome = profshim({"summary", view, four, two});

    EXPECT_EQ(outcome.ending(), "exit 2");
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "profshim: " + four + " is of a job of 4 ranks, " + two + " of a job of 2: name the traces of one job\n");
    EXPECT_EQ(profshim({"summary", view, "--several-runs", four, two}).ending(), "exit 0");
  }
}

TEST(Summary, ShowsTheReadablePartOfATruncatedFileAndSaysSo) {
  const ScratchFolder scratch;
  const std::string whole = test::sample_trace();
  const std::string path = scratch.write("cut.json", whole.substr(0, whole.size() * 3 / 4));

  const Outcome outcome = profshim({"summary", path});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_NE(outcome.out.find("ProfilerStep*"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err.rfind("profshim: " + path + ": cut off: ", 0), 0u) << outcome.err;
}

// Perfetto shows such files.
TEST(Summary, SaysWhatATraceWithoutDurationsHolds) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a.json", R"({"traceEvents": [{"ph": "i", "ts": 1}, {"ph": "C", "ts": 2}]})");
  const std::string warning = path +
                              ": none of its 2 events has a duration (1 instant, 1 counter value): tables of times are "
                              "empty";

  const Outcome text = profshim({"summary", path});
  const Outcome json = profshim({"summary", "--json", path});
  const Outcome views =
      profshim({"summary", "--table", "--kernels", "--steps", "--comms", "--mpi", "--phases", "--csv", path});

  for (const Outcome& outcome : {text, json, views}) {
    EXPECT_EQ(outcome.ending(), "exit 0");
    EXPECT_EQ(outcome.err, "profshim: " + warning + "\n");
  }
  rapidjson::Document document;
  document.Parse(json.out.c_str());
  ASSERT_TRUE(document.IsObject()) << json.out;
  EXPECT_TRUE(document["rows"].Empty());
  ASSERT_EQ(document["warnings"].Size(), 1u);
  EXPECT_EQ(document["warnings"][0].GetString(), warning);
  EXPECT_EQ(profshim({"summary", scratch.write("none.json", R"({"traceEvents": []})")}).ending(), "exit 2");
}

TEST(Summary, RefusesUnknownSortKeys) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a.json", test::sample_trace());

  const Outcome outcome = profshim({"summary", path, "--sort-by", "self_cpu_time_totl"});

  EXPECT_EQ(outcome.ending(), "exit 2");
  EXPECT_EQ(
      outcome.err,
      "profshim summary: --sort-by: unknown column \"self_cpu_time_totl\"; did you mean \"self_cpu_time_total\"?\n");
  for (const std::string key : {"count", "cpu_time", "cuda_time", "device_time_total", "self_cuda_memory_usage"}) {
    EXPECT_EQ(profshim({"summary", path, "--sort-by", key}).ending(), "exit 0") << key;
  }
}

}  // namespace
}  // namespace profshim::e2e
