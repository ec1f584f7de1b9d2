#include <gtest/gtest.h>

#include <algorithm>

#include "profshim/analysis.h"
#include "unit/trace/sample_trace.h"

namespace profshim {
namespace {

constexpr char kName[] = "step11/rank0.11.pt.trace.json";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// The sample with one part of its text changed.
FileReport verify_with(const std::string& what, const std::string& by) {
  return verify_trace_bytes(replaced(test::sample_trace(), what, by), kName);
}

// The sample with one more event.
FileReport verify_with_event(const std::string& event) {
  const std::string mark = "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\"";
  return verify_with(mark, event + ",\n" + mark);
}

std::string slice(double ts, double dur, const std::string& more = "", const std::string& cat = "cpu_op") {
  return "{\"ph\":\"X\",\"cat\":\"" + cat + "\",\"name\":\"x\",\"pid\":4711,\"tid\":4711,\"ts\":" + std::to_string(ts) +
         ",\"dur\":" + std::to_string(dur) + more + "}";
}

bool finds(const FileReport& report, int item, bool must) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& f) { return f.item == item && f.must == must; });
}

std::string text_of(const FileReport& report) {
  std::string text;
  for (const Finding& f : report.findings) text += std::to_string(f.item) + ' ' + f.message + '\n';
  return text;
}

TEST(Conformance, AnMpiTraceWithoutGpuRowsBreaksNothing) {
  const FileReport report = verify_trace_bytes(test::sample_trace({.rank = 2}), kName);

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

struct Broken {
  int item;
  bool must;
  const char* what;
  const char* by;
};

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

// The window of the sample: steps at 1234567891.011, 1234577891.011, 1234587891.011 us, 9999.5 us each.
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

  // in no order of time
  EXPECT_TRUE(
      verify_with_event(half("e", 9) + "," + half("b", 5) + "," + half("e", 8) + "," + half("b", 8)).conforms());
  EXPECT_TRUE(finds(verify_with_event(half("e", 4) + "," + half("b", 5)), 41, true));
}

TEST(Conformance, FileNamesThatReadersPassOverAreNamedAndNoFault) {
  const FileReport report = verify_trace_bytes(test::sample_trace(), "trace.json");

  EXPECT_TRUE(finds(report, 2, false));
  EXPECT_TRUE(report.conforms());
  EXPECT_TRUE(finds(verify_trace_bytes(test::sample_trace(), "rank0.pt.trace.json"), 2, false));
}

TEST(Conformance, ACutFileIsUnreadableAndSaysSo) {
  const std::string text = test::sample_trace();

  const FileReport report = verify_trace_bytes(text.substr(0, text.size() / 2), kName);

  EXPECT_FALSE(report.readable);
  EXPECT_FALSE(report.conforms());
  EXPECT_TRUE(report.truncated);
  EXPECT_NE(report.error.find("events before it"), std::string::npos) << report.error;
}

// ---- GPU rows
// --------------------------------------------------------------------------------------------------------

constexpr char kLaunch[] =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4711,"tid":4711,"ts":1234573000,"dur":5,)"
    R"("args":{"External id":5,"cbid":211,"correlation":9}},)"
    R"({"ph":"s","id":9,"pid":4711,"tid":4711,"ts":1234573000,"cat":"ac2g","name":"ac2g"},)";
constexpr char kOp[] =
    R"({"ph":"X","cat":"cpu_op","name":"op","pid":4711,"tid":4711,"ts":1234572999,"dur":7,"args":{"External id":5}},)";
constexpr char kKernel[] =
    R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":1234573010,"dur":5,)"
    R"("args":{"External id":5,"queued":0,"device":0,"context":1,"stream":7,"correlation":9,"registers per thread":1,)"
    R"("shared memory":0,"blocks per SM":1.5,"warps per SM":2,"grid":[1,1,1],"block":[1,1,1],)"
    R"("est. achieved occupancy %":1}},)"
    R"({"ph":"f","id":9,"pid":0,"tid":7,"ts":1234573010,"cat":"ac2g","name":"ac2g","bp":"e"})";

constexpr char kTwice[] = "the same twice";
constexpr char kFlowStart[] = R"({"ph":"s","id":9,"pid":4711,"tid":4711,"ts":1234573000,"cat":"ac2g","name":"ac2g"},)";
// The kernel, and another one of the same launch.
const std::string kTwoKernelsText =
    std::string(kKernel) + "," + replaced(kKernel, "1234573010,\"dur", "1234573020,\"dur");
const char* const kTwoKernels = kTwoKernelsText.c_str();
constexpr char kFive[] =
    R"("queued":0,"Collective name":"allreduce","In msg nelems":1,"Out msg nelems":1,"Group size":2,"dtype":"Float")";
constexpr char kSync[] = R"("cuda_sync_kind":"x","stream":-1,"correlation":5,"device":0,"context":1)";

// A slice of GPU 0 with what every row of it has.
std::string gpu_slice(const std::string& category, const std::string& name, const std::string& args,
                      const std::string& ts = "1234573000") {
  const bool work = category == "gpu_memcpy" || category == "gpu_memset";
  const std::string common = work ? R"("device":0,"context":1,"stream":7,"correlation":9)" : "";
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":0,"tid":7,"ts":)" + ts +
         R"(,"dur":5,"args":{)" + common + (common.empty() || args.empty() ? "" : ",") + args + "}}";
}

FileReport verify_gpu(const std::string& what = "", const std::string& by = "") {
  const std::string events = std::string(kOp) + kLaunch + kKernel;
  if (by == kTwice) return verify_with_event(replaced(events, what, what + what));
  return verify_with_event(what.empty() ? events : replaced(events, what, by));
}

TEST(Conformance, ACallSeenBySymbolHasNoCorrelation) {
  const std::string call = R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4711,"tid":4711,)"
                           R"("ts":1234573100,"dur":5,"args":{"seen by":"symbol","stream handle":"0x0"}})";
  const FileReport report = verify_with_event(call);
  EXPECT_TRUE(report.conforms()) << report.findings.front().message;
}

TEST(Conformance, ALaunchAndItsKernelAreFine) {
  const FileReport report = verify_gpu();

  EXPECT_TRUE(report.findings.empty()) << text_of(report);
}

// From the oldest to those of 2.27 and 2.28.
TEST(Conformance, TakesEveryKernelOfNccl) {
  for (const char* const name :
       {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)",
        "ncclDevKernel_Generic(ncclDevKernelArgs)", "ncclSymDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymDevArgs)",
        "ncclSymkDevKernel_ReduceScatter_LDMC_sum_bf16(ncclSymkDevWorkArgs4K)",
        "void (anonymous namespace)::oneRankReduce<FuncPreMulSum<float> >(void*, void*, unsigned long, unsigned long, "
        "bool)"}) {
    const FileReport report = verify_gpu("ncclDevKernel_AllReduce", name);
    EXPECT_TRUE(report.findings.empty()) << name << '\n' << text_of(report);
  }
}

class ConformanceGpu : public testing::TestWithParam<Broken> {};

TEST_P(ConformanceGpu, FindsWhatIsBroken) {
  const FileReport report = verify_gpu(GetParam().what, GetParam().by);

  EXPECT_TRUE(finds(report, GetParam().item, GetParam().must)) << GetParam().by << '\n' << text_of(report);
}

INSTANTIATE_TEST_SUITE_P(
    Items, ConformanceGpu,
    testing::Values(Broken{12, true, "\"pid\":0,\"tid\":7,\"ts\":1234573010,\"dur\"",
                           "\"pid\":1,\"tid\":7,\"ts\":1234573010,\"dur\""},
                    Broken{12, true, "\"stream\":7", "\"stream\":0"}, Broken{13, true, "\"queued\":0,", ""},
                    Broken{13, true, "\"grid\":[1,1,1]", "\"grid\":[1,1]"},
                    Broken{14, true, "\"cat\":\"kernel\"", "\"cat\":\"gpu_memcpy\""},
                    Broken{15, true, "\"cbid\":211,", ""},
                    Broken{18, false, "\"correlation\":9,\"registers", "\"correlation\":10,\"registers"},
                    Broken{19, true, kLaunch, kTwice}, Broken{20, true, "cudaLaunchKernel", "cudaLaunchKernel_v7000"},
                    Broken{21, false, "\"ts\":1234573010,\"dur\"", "\"ts\":1234572000,\"dur\""},
                    Broken{22, true, "\"ph\":\"s\",\"id\":9", "\"ph\":\"s\",\"id\":8"},
                    Broken{22, true, "\"ph\":\"f\",\"id\":9", "\"ph\":\"f\",\"id\":8"},
                    Broken{28, true, "ncclDevKernel_AllReduce", "ncclAllReduce"},
                    Broken{29, true, "\"queued\":0", "\"queued\":0,\"dtype\":\"Float\""}, Broken{32, true, kOp, ""},
                    Broken{32, true, kOp, kTwice},
                    Broken{12, true, "\"correlation\":9,\"registers", "\"correlation\":0,\"registers"},
                    Broken{12, true, "\"device\":0", "\"device\":1"},
                    Broken{13, true, "\"est. achieved occupancy %\":1", "\"x\":1"},
                    Broken{15, true, "\"cbid\":211,\"correlation\":9", "\"cbid\":211,\"correlation\":0"},
                    Broken{15, true, "\"cbid\":211", "\"cbid\":211,\"stream\":7"},
                    Broken{15, true, "\"cbid\":211", "\"seen by\":\"symbol\""}, Broken{19, true, kKernel, kTwoKernels},
                    Broken{20, true, "cudaLaunchKernel", "__cudaLaunchKernel"},
                    Broken{20, true, "cudaLaunchKernel", "cudaLaunchKernel_ptsz"},
                    Broken{22, true, ",\"bp\":\"e\"", ""}, Broken{22, true, "\"bp\":\"e\"", "\"bp\":\"s\""},
                    Broken{22, true, "\"cat\":\"ac2g\",\"name\":\"ac2g\"}", "\"cat\":\"ac2g\",\"name\":\"flow\"}"},
                    Broken{22, true, kFlowStart, ""}, Broken{22, true, kFlowStart, kTwice},
                    Broken{29, true, "\"queued\":0", "\"queued\":0,\"Group size\":\"2\""},
                    Broken{29, true, "\"queued\":0", "\"queued\":0,\"Process Group Ranks\":[0,1]"},
                    Broken{31, false, "\"queued\":0", kFive},
                    Broken{38, true, "\"ts\":1234573010,\"dur\":5", "\"ts\":0,\"dur\":5"},
                    Broken{39, false, "\"ts\":1234573010,\"dur\":5", "\"ts\":1234573010,\"dur\":0"}));

// Copies, synchronisations and more, of which the kernel's example has none.
const std::string kBytes = "\"bytes\":1", kRate = "\"memory bandwidth (GB/s)\":1";
const std::string kOneStream = replaced(kSync, "\"stream\":-1", "\"stream\":7");
const std::string kWaits =
    std::string(kSync) + ",\"wait_on_stream\":7,\"wait_on_cuda_event_record_corr_id\":77,\"wait_on_cuda_event_id\":1";

INSTANTIATE_TEST_SUITE_P(
    GpuItems, ConformanceEvent,
    testing::Values(
        std::pair{Broken{14, true}, gpu_slice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", kRate)},
        std::pair{Broken{14, true}, gpu_slice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", kBytes)},
        std::pair{Broken{14, true}, gpu_slice("gpu_memcpy", "Memcpy (Pinned -> Device)", kBytes + "," + kRate)},
        std::pair{Broken{14, true}, gpu_slice("gpu_memset", "cudaMemset", kBytes + "," + kRate)},
        std::pair{Broken{23, false}, gpu_slice("gpu_memset", "Memset (Device)", "") + "," +
                                         gpu_slice("gpu_memset", "Memset (Device)", "", "1234573000.001")},
        std::pair{Broken{26, false}, gpu_slice("gpu_user_annotation", "ProfilerStep#11", "\"External id\":1")},
        std::pair{Broken{33, false}, gpu_slice("cuda_sync", "Stream Sync", "\"stream\":7")},
        std::pair{Broken{33, false}, gpu_slice("cuda_sync", "Event Sync", kSync)},
        std::pair{Broken{33, false}, gpu_slice("cuda_sync", "Context Sync", kOneStream)},
        std::pair{Broken{34, false}, gpu_slice("cuda_sync", "Stream Wait Event", kWaits)}));

TEST(Conformance, AFlowBeforeItsSliceIsFound) {
  const std::string slice = std::string(kLaunch).substr(0, std::string(kLaunch).find(kFlowStart));

  const FileReport report = verify_gpu(slice + kFlowStart, kFlowStart + slice);

  EXPECT_TRUE(finds(report, 22, true)) << text_of(report);
}

TEST(Conformance, AFirstElementThatIsALaunchIsFound) {
  const FileReport report =
      verify_with("\"traceEvents\": [\n", "\"traceEvents\": [\n" + std::string(kLaunch) + kKernel + ",\n");

  EXPECT_TRUE(finds(report, 27, false)) << text_of(report);
}

TEST(Conformance, ACollectiveInItsOperationIsFine) {
  const std::string events = std::string(kOp) + kLaunch + kKernel;
  const std::string named =
      replaced(replaced(events, "\"name\":\"op\"", "\"name\":\"record_param_comms\""), "\"queued\":0", kFive);

  EXPECT_TRUE(verify_with_event(named).findings.empty()) << text_of(verify_with_event(named));
  // Launched by another thread.
  const FileReport outside = verify_with_event(
      replaced(named, "\"pid\":4711,\"tid\":4711,\"ts\":1234572999", "\"pid\":4711,\"tid\":4712,\"ts\":1234572999"));
  EXPECT_TRUE(finds(outside, 31, false)) << text_of(outside);
}

// NCCL launches what was called in a group at the group's end.
TEST(Conformance, ACollectiveLaunchedByTheEndOfItsGroupIsFine) {
  const std::string with_five = replaced(std::string(kLaunch) + kKernel, "\"queued\":0", kFive);
  const std::string events = R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":4711,"tid":4711,)"
                             R"("ts":1234572990,"dur":1,"args":{"External id":5}},)"
                             R"({"ph":"X","cat":"cpu_op","name":"ncclGroupEnd","pid":4711,"tid":4711,)"
                             R"("ts":1234572995,"dur":50},)" +
                             with_five;

  const FileReport group = verify_with_event(events);
  const FileReport of_another_thread = verify_with_event(replaced(
      events, R"("name":"ncclGroupEnd","pid":4711,"tid":4711)", R"("name":"ncclGroupEnd","pid":4711,"tid":4712)"));
  const FileReport over = verify_with_event(replaced(events, R"("dur":50)", R"("dur":2)"));

  EXPECT_FALSE(finds(group, 31, false)) << text_of(group);
  EXPECT_TRUE(finds(of_another_thread, 31, false)) << text_of(of_another_thread);
  EXPECT_TRUE(finds(over, 31, false)) << text_of(over);
}

TEST(Conformance, ReadsOurOwnCountOfLosses) {
  EXPECT_EQ(verify_with("\"dropped\": {\"total\": 0}", "\"dropped_events\": 12").dropped, 12u);
}

// ---- several files
// ---------------------------------------------------------------------------------------------------

std::vector<FileReport> window_with(const test::SampleOptions& second) {
  std::vector<FileReport> reports;
  reports.push_back(verify_trace_bytes(test::sample_trace({.rank = 0}), "step11/rank0.11.pt.trace.json"));
  reports.push_back(verify_trace_bytes(test::sample_trace(second), "step11/rank1.11.pt.trace.json"));
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

// ---- real traces
// -----------------------------------------------------------------------------------------------------

// Item numbers of level must, in order: which statements real traces of PyTorch break.
std::vector<int> broken_items(const FileReport& report) {
  std::vector<int> items;
  for (const Finding& f : report.findings) {
    if (f.must && (items.empty() || items.back() != f.item)) items.push_back(f.item);
  }
  return items;
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
  // Raw pthread ids of the NCCL watchdog; flow ends without a start.
  EXPECT_EQ(broken_items(report), (std::vector<int>{17, 22})) << text_of(report);
}

TEST(RealTraces, VllmOnB200) {
  const FileReport report = golden("tracelens-b200-8gpu-rank0.json.gz");

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_EQ(report.events, 24656u);
  // 441 dangling flow ends; slices that leave their parent by clock jitter.
  EXPECT_EQ(broken_items(report), (std::vector<int>{22, 24})) << text_of(report);
  const auto flows =
      std::find_if(report.findings.begin(), report.findings.end(), [](const Finding& f) { return f.item == 22; });
  EXPECT_EQ(flows->count, 441u);
}

TEST(RealTraces, IntegerMicrosecondsOf2023) {
  const FileReport report = golden("hta-cuda-event-sync-multistream.json.gz");

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_EQ(report.events, 149u);
  // No world_size; no base time; absolute times; dangling flow ends.
  EXPECT_EQ(broken_items(report), (std::vector<int>{4, 6, 10, 22})) << text_of(report);
}

}  // namespace
}  // namespace profshim
