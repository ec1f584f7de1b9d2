#include <gtest/gtest.h>

#include <vector>

#include "unit/analysis/verify/sample_checks.h"

namespace profshim::test {
namespace {

TEST(Conformance, AnMpiTraceWithoutGpuRowsBreaksNothing) {
  const FileReport report = verify_trace_bytes(sample_trace({.rank = 2}), kName);

  EXPECT_TRUE(report.conforms());
  EXPECT_TRUE(report.findings.empty()) << text_of(report);
  EXPECT_EQ(report.rank, 2);
  EXPECT_EQ(report.events, 29u);
  EXPECT_EQ(report.steps, (std::vector<std::int64_t>{11, 12, 13}));
  EXPECT_EQ(report.spec_hash, "0123456789abcdef");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.dropped, 0u);
}

TEST(Conformance, ReadsLossFromTheMetadata) {
  const FileReport report = verify_with("{\"total\": 0}", "{\"total\": 17}");

  EXPECT_EQ(report.dropped, 17u);
  EXPECT_FALSE(verify_with("\"complete\": true", "\"complete\": false").complete);
  EXPECT_TRUE(verify_with("\"truncated\": false", "\"truncated\": true").truncated);
}

class ConformanceHeader : public testing::TestWithParam<Broken> {};

TEST_P(ConformanceHeader, FindsWhatIsBroken) {
  const FileReport report = verify_with(GetParam().what, GetParam().by);

  EXPECT_TRUE(finds(report, GetParam().item, GetParam().must)) << GetParam().by << '\n' << text_of(report);
  EXPECT_EQ(report.conforms(), !GetParam().must);
}

INSTANTIATE_TEST_SUITE_P(
    Items, ConformanceHeader,
    testing::Values(
        Broken{1, true, "\"schemaVersion\": 1,\n\"deviceProperties\": []",
               "\"deviceProperties\": [],\n\"schemaVersion\": 1"},
        Broken{1, true, "\"displayTimeUnit\"", "\"host_name\": \"again\", \"displayTimeUnit\""},
        Broken{1, true, "\"dropped\": {", "\"dropped\": NaN, \"x\": {"},
        Broken{3, true, "\"schemaVersion\": 1", "\"schemaVersion\": 2"},
        Broken{3, true, "\"deviceProperties\": [],\n", ""},
        Broken{3, true, "\"deviceProperties\": []", "\"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}]"},
        Broken{4, true, "\"rank\": 0", "\"rank\":0"}, Broken{4, true, "\"rank\": 0", "\"rank\": \"0\""},
        Broken{4, true, "\"world_size\": 4,", ""}, Broken{4, true, "\"backend\":\"mpi\",\"rank\"", "\"rank\""},
        Broken{4, false, "\"distributedInfo\"", "\"distributed\""},
        Broken{5, false, "\"ranks\": [0, 1, 2, 3]", "\"ranks\": \"[0, 1, 2, 3]\""},
        Broken{6, true, "1790857026000000000", "1790857026000000001"},
        Broken{6, true, "\"baseTimeNanoseconds\": 1790857026000000000,\n", ""},
        Broken{6, true, "\"displayTimeUnit\": \"ms\"", "\"displayTimeUnit\": \"ns\""},
        Broken{7, false, "\"traceName\": \"/data", "\"traceName\": \"/data]"},
        Broken{7, false, "\"traceName\"", "\"INFO\": \"x\", \"traceName\""},
        Broken{25, true, "ProfilerStep#12", "ProfilerStep#14"}, Broken{25, true, "ProfilerStep#12", "ProfilerStep 12"},
        Broken{25, false, "ProfilerStep#13", "Step#13"}, Broken{35, false, "\"process_name\"", "\"process\""},
        Broken{35, false, "\"thread_name\"", "\"thread\""},
        Broken{36, false, "\"cat\":\"Trace\"", "\"cat\":\"overhead\""},
        Broken{36, false, "Iteration Start", "Iteration"}, Broken{36, false, "Record Window End", "Window End"},
        Broken{41, true, "{\"ph\":\"e\"", "{\"ph\":\"b\""}, Broken{41, true, "{\"ph\":\"b\"", "{\"ph\":\"e\""}));

class ConformanceEvent : public testing::TestWithParam<std::pair<Broken, std::string>> {};

TEST_P(ConformanceEvent, FindsWhatIsBroken) {
  const auto& [broken, event] = GetParam();

  const FileReport report = verify_with_event(event);

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_TRUE(finds(report, broken.item, broken.must)) << event << '\n' << text_of(report);
}

// In the first step of sample_trace(), in microseconds.
constexpr double kIn = 1234573000;

INSTANTIATE_TEST_SUITE_P(
    Items, ConformanceEvent,
    testing::Values(
        std::pair{Broken{8, true}, std::string(R"({"ph":"Q","name":"x","pid":1,"tid":1,"ts":1})")},
        std::pair{Broken{8, true}, std::string(R"({"ph":"i","pid":4711,"tid":4711,"ts":1})")},
        std::pair{Broken{8, true}, std::string(R"({"ph":"i","name":"x","tid":4711,"ts":1})")},
        std::pair{Broken{8, true}, std::string(R"({"ph":"i","name":"x","pid":4711,"tid":4711})")},
        std::pair{Broken{8, true}, std::string(R"({"ph":"i","name":"x","pid":4711,"tid":4711,"ts":-1})")},
        std::pair{Broken{9, true}, slice(kIn, 1, "", "")}, std::pair{Broken{9, true}, slice(kIn, -1)},
        std::pair{Broken{9, true}, std::string(R"({"ph":"X","cat":"cpu_op","name":"x","pid":4711,"tid":4711,"ts":1})")},
        std::pair{Broken{9, true},
                  std::string(R"({"ph":"i","name":"x","pid":4711,"tid":4711,"ts":1,"args":{"External id":1}})")},
        std::pair{Broken{10, true}, std::string(R"({"ph":"i","name":"x","pid":4711,"tid":4711,"ts":1.0001})")},
        std::pair{Broken{10, true},
                  std::string(R"({"ph":"i","name":"x","pid":4711,"tid":4711,"ts":1711964646000000})")},
        std::pair{Broken{11, true}, slice(kIn, 1, "", "Operator")},
        std::pair{Broken{16, true}, slice(kIn, 1, R"(,"args":{"stream":7,"correlation":5})")},
        std::pair{Broken{17, true},
                  std::string(R"({"ph":"X","cat":"cpu_op","name":"x","pid":4711,"tid":-5,"ts":1234573000,"dur":1})")},
        std::pair{Broken{17, false},
                  std::string(R"({"ph":"X","cat":"cpu_op","name":"x","pid":7,"tid":7,"ts":1234573000,"dur":1})")},
        std::pair{Broken{23, false}, slice(1234577000, 5000)}, std::pair{Broken{24, true}, slice(1234577000, 890.600)},
        std::pair{Broken{37, false},
                  std::string(R"({"ph":"X","cat":"overhead","name":"x","pid":-1,"tid":0,"ts":1234573000,"dur":1})")},
        std::pair{Broken{38, true}, slice(1200000000, 1)}, std::pair{Broken{38, true}, slice(1300000000, 1)},
        std::pair{Broken{39, false}, slice(1234598000, 7.0 * 86400e6 + 1)}));

TEST(Conformance, NestedAndTouchingSlicesAreFine) {
  const FileReport report = verify_with_event(slice(kIn, 10) + "," + slice(kIn, 10) + "," + slice(kIn + 10, 5) + "," +
                                              slice(kIn + 10, 0) + "," + slice(kIn + 11, 4));

  EXPECT_TRUE(report.findings.empty()) << text_of(report);
}

TEST(Conformance, StepsOfTwoThreadsAreFound) {
  const FileReport report = verify_with("\"name\":\"ProfilerStep#12\",\"pid\":4711,\"tid\":4711",
                                        "\"name\":\"ProfilerStep#12\",\"pid\":4711,\"tid\":4712");

  EXPECT_TRUE(finds(report, 25, true)) << text_of(report);
}

TEST(Conformance, NestedAsyncEventsOfOneIdAreFine) {
  const auto half = [](const char* phase, int ts) {
    return std::string("{\"ph\":\"") + phase +
           "\",\"cat\":\"cpu_op\",\"id\":77,\"name\":\"x\",\"pid\":4711,\"tid\":4711," +
           "\"ts\":" + std::to_string(ts) + "}";
  };

  // Events need not be ordered by time.
  EXPECT_TRUE(
      verify_with_event(half("e", 9) + "," + half("b", 5) + "," + half("e", 8) + "," + half("b", 8)).conforms());
  EXPECT_TRUE(finds(verify_with_event(half("e", 4) + "," + half("b", 5)), 41, true));
}

TEST(Conformance, FileNamesThatReadersPassOverAreNamedAndNoFault) {
  const FileReport report = verify_trace_bytes(sample_trace(), "trace.json");

  EXPECT_TRUE(finds(report, 2, false));
  EXPECT_TRUE(report.conforms());
  EXPECT_TRUE(finds(verify_trace_bytes(sample_trace(), "rank0.pt.trace.json"), 2, false));
}

TEST(Conformance, ACutFileIsUnreadableAndSaysSo) {
  const std::string text = sample_trace();

  const FileReport report = verify_trace_bytes(text.substr(0, text.size() / 2), kName);

  EXPECT_FALSE(report.readable);
  EXPECT_FALSE(report.conforms());
  EXPECT_TRUE(report.truncated);
  EXPECT_NE(report.error.find(" events)"), std::string::npos) << report.error;
}

TEST(Conformance, ReadsOurOwnCountOfLosses) {
  EXPECT_EQ(verify_with("\"dropped\": {\"total\": 0}", "\"dropped_events\": 12").dropped, 12u);
}

std::vector<FileReport> window_with(const SampleOptions& second) {
  std::vector<FileReport> reports;
  reports.push_back(verify_trace_bytes(sample_trace({.rank = 0}), "step11/rank0.11.pt.trace.json"));
  reports.push_back(verify_trace_bytes(sample_trace(second), "step11/rank1.11.pt.trace.json"));
  verify_together(reports);
  return reports;
}

TEST(ConformanceTogether, RanksOfOneWindowFit) {
  const auto reports = window_with({.rank = 1});

  EXPECT_TRUE(reports[0].conforms() && reports[1].conforms()) << text_of(reports[1]);
}

TEST(ConformanceTogether, FindsOneRankTwice) { EXPECT_TRUE(finds(window_with({.rank = 0})[1], 4, true)); }

TEST(ConformanceTogether, FindsAnotherBase) {
  EXPECT_TRUE(finds(window_with({.rank = 1, .base_time_ns = 226 * 7889238000000000})[1], 6, true));
}

TEST(ConformanceTogether, FindsOtherSteps) {
  EXPECT_TRUE(finds(window_with({.rank = 1, .first_step = 12})[1], 25, true));
}

TEST(ConformanceTogether, FindsAnotherSpec) {
  EXPECT_TRUE(finds(window_with({.rank = 1, .spec_hash = "f"})[1], 42, true));
}

FileReport golden(const std::string& name) {
  return verify_trace(std::string(PROFSHIM_SOURCE_DIR) + "/tests/golden/traces/" + name);
}

TEST(RealTraces, DdpOnA100) {
  const FileReport report = golden("hta-ddp-nccl-3steps.json.gz");

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_EQ(report.events, 40573u);
  EXPECT_EQ(report.rank, 0);
  EXPECT_EQ(report.steps, (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_TRUE(report.conforms()) << text_of(report);
  // Item 17: NCCL's watchdog thread has raw pthread ids. Item 22: some flows end but never start.
  EXPECT_TRUE(finds(report, 17, false) && finds(report, 22, false)) << text_of(report);
}

TEST(RealTraces, VllmOnB200) {
  const FileReport report = golden("tracelens-b200-8gpu-rank0.json.gz");

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_EQ(report.events, 24656u);
  EXPECT_TRUE(report.conforms()) << text_of(report);
  // Item 22: 441 flows end but never start. Item 24: clock jitter moves slices out of their parents.
  EXPECT_TRUE(finds(report, 22, false) && finds(report, 24, false)) << text_of(report);
  const auto flows =
      std::find_if(report.findings.begin(), report.findings.end(), [](const Finding& f) { return f.item == 22; });
  EXPECT_EQ(flows->count, 441u);
}

TEST(RealTraces, IntegerMicrosecondsOf2023) {
  const FileReport report = golden("hta-cuda-event-sync-multistream.json.gz");

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_EQ(report.events, 149u);
  // The trace has no world_size and no base time. Its times are absolute. Some flows end but never start.
  EXPECT_TRUE(report.conforms()) << text_of(report);
  for (const int item : {4, 6, 10, 22}) EXPECT_TRUE(finds(report, item, false)) << item << '\n' << text_of(report);
}

}  // namespace
}  // namespace profshim::test
