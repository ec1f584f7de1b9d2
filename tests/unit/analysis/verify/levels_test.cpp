// Levels of findings: what breaks a consumer is an error in every trace, profshim's promises only in its own.
#include <gtest/gtest.h>

#include <string>

#include "unit/analysis/verify/sample_checks.h"

namespace profshim::test {
namespace {

/// A trace of another tool.
FileReport verify_foreign(const std::string& events) {
  return verify_trace_bytes(R"({"schemaVersion":1,"deviceProperties":[],"traceEvents":[)" + events + "]}",
                            "rank0.11.pt.trace.json");
}

const Finding* finding_of(const FileReport& report, int item) {
  const auto at =
      std::find_if(report.findings.begin(), report.findings.end(), [=](const Finding& f) { return f.item == item; });
  return at == report.findings.end() ? nullptr : &*at;
}

std::string operation(const std::string& members) {
  return R"({"ph":"X","cat":"cpu_op","name":"aten::mm",)" + members + "}";
}

// Calls of HIP have no cbid, streams and sizes as texts, and kernels lack CUDA's arguments.
constexpr char kHip[] =
    R"({"ph":"X","cat":"cuda_runtime","name":"hipMemcpyWithStream","pid":9713,"tid":9713,"ts":100.1,"dur":60.2,)"
    R"("args":{"External id":8,"stream":"0x0","cid":153,"correlation":117,"size":"2560","kind":"1"}},)"
    R"({"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":2,"tid":0,"ts":110.1,"dur":22.4,)"
    R"("args":{"External id":8,"device":2,"stream":0,"correlation":117,"kind":"HtoD"}},)"
    R"({"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk_SB","pid":2,"tid":0,"ts":140.1,"dur":2.4,)"
    R"("args":{"device":2,"stream":0,"correlation":118,"grid":[1,1,1],"block":[256,1,1]}},)"
    R"({"ph":"f","id":119,"pid":2,"tid":0,"ts":140.1,"cat":"ac2g","name":"ac2g","bp":"e"})";

TEST(VerifyLevels, AmdTracesHaveNotes) {
  const FileReport report = verify_foreign(kHip);

  EXPECT_TRUE(report.conforms()) << text_of(report);
  for (const int item : {13, 14, 15, 22}) EXPECT_TRUE(finds(report, item, false)) << item << '\n' << text_of(report);
}

TEST(VerifyLevels, TracksOfPythonHaveNotes) {
  const FileReport report =
      verify_foreign(R"({"ph":"X","cat":"python_function","name":"f","pid":9713,"tid":140213977118272,"ts":1,"dur":2},)"
                     R"({"ph":"X","cat":"python_function","name":"f","pid":9713,"tid":"python","ts":1,"dur":2})");

  EXPECT_TRUE(report.conforms()) << text_of(report);
  ASSERT_NE(finding_of(report, 17), nullptr);
  EXPECT_EQ(finding_of(report, 17)->count, 2u);
}

TEST(VerifyLevels, PromisesAreErrorsInOwnTraces) {
  const FileReport report = verify_with_event(
      R"({"ph":"X","cat":"cuda_runtime","name":"x","pid":4711,"tid":4711,"ts":5,"dur":1,"args":{"correlation":8}})");

  EXPECT_TRUE(finds(report, 15, true)) << text_of(report);
  EXPECT_EQ(finding_of(report, 15)->breaks, "");
}

struct Breaking {
  int item;
  const char* event;
  const char* consumers;
};

class BreaksConsumer : public testing::TestWithParam<Breaking> {};

TEST_P(BreaksConsumer, IsAnErrorThatNamesIt) {
  const FileReport report = verify_foreign(GetParam().event);

  EXPECT_FALSE(report.conforms());
  EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& f) {
    return f.item == GetParam().item && f.must && f.breaks == GetParam().consumers;
  })) << text_of(report);
}

INSTANTIATE_TEST_SUITE_P(
    VerifyLevels, BreaksConsumer,
    testing::Values(
        Breaking{8, R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2})", "the TensorBoard plugin"},
        Breaking{8, R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"dur":2})",
                 "Perfetto, the TensorBoard plugin"},
        Breaking{9, R"({"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":2})", "the TensorBoard plugin"},
        Breaking{9, R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":1})", "the TensorBoard plugin"},
        Breaking{12, R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"ts":1,"dur":2,"args":{"device":64}})",
                 "the TensorBoard plugin"},
        Breaking{17, R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":"main","ts":1,"dur":2})",
                 "the TensorBoard plugin"},
        Breaking{25, R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#x","pid":1,"tid":1,"ts":1,"dur":2})",
                 "HTA, the TensorBoard plugin"},
        Breaking{43, R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd","pid":1,"tid":1,"ts":1})", "the TensorBoard plugin"}));

TEST(VerifyLevels, ListOfEventsBreaksHta) {
  const FileReport report = verify_trace_bytes("[" + operation(R"("pid":1,"tid":1,"ts":1,"dur":2)") + "]", "a.json");

  ASSERT_NE(finding_of(report, 1), nullptr);
  EXPECT_EQ(finding_of(report, 1)->breaks, "HTA, the TensorBoard plugin");
}

TEST(VerifyLevels, ForeignFilesOfOneFolderHaveNotes) {
  std::vector<FileReport> reports;
  for (int i = 0; i < 2; ++i)
    reports.push_back(
        verify_foreign(operation(R"("pid":100,"tid":100,"ts":)" + std::to_string(1 + i) + R"(,"dur":2)")));
  reports[1].base_time_ns = 5;
  reports[1].rank = reports[0].rank = 0;

  verify_together(reports);

  EXPECT_TRUE(reports[1].conforms()) << text_of(reports[1]);
  EXPECT_TRUE(finds(reports[1], 6, false) && finds(reports[1], 4, false));
}

}  // namespace
}  // namespace profshim::test
