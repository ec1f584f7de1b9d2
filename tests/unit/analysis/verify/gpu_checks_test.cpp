#include <gtest/gtest.h>

#include <string>

#include "unit/analysis/verify/sample_checks.h"

namespace profshim::test {
namespace {

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
const std::string kTwoKernelsText =
    std::string(kKernel) + "," + replaced(kKernel, "1234573010,\"dur", "1234573020,\"dur");
const char* const kTwoKernels = kTwoKernelsText.c_str();
constexpr char kFive[] =
    R"("queued":0,"Collective name":"allreduce","In msg nelems":1,"Out msg nelems":1,"Group size":2,"dtype":"Float")";
constexpr char kSync[] = R"("cuda_sync_kind":"x","stream":-1,"correlation":5,"device":0,"context":1)";

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

// The names are from old NCCL releases, NCCL 2.27 and NCCL 2.28.
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

class ConformanceGpuEvent : public testing::TestWithParam<std::pair<Broken, std::string>> {};

TEST_P(ConformanceGpuEvent, FindsWhatIsBroken) {
  const auto& [broken, event] = GetParam();

  const FileReport report = verify_with_event(event);

  EXPECT_TRUE(report.readable) << report.error;
  EXPECT_TRUE(finds(report, broken.item, broken.must)) << event << '\n' << text_of(report);
}

const std::string kBytes = "\"bytes\":1", kRate = "\"memory bandwidth (GB/s)\":1";
const std::string kOneStream = replaced(kSync, "\"stream\":-1", "\"stream\":7");
const std::string kWaits =
    std::string(kSync) + ",\"wait_on_stream\":7,\"wait_on_cuda_event_record_corr_id\":77,\"wait_on_cuda_event_id\":1";

INSTANTIATE_TEST_SUITE_P(
    Items, ConformanceGpuEvent,
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
  const FileReport outside = verify_with_event(
      replaced(named, "\"pid\":4711,\"tid\":4711,\"ts\":1234572999", "\"pid\":4711,\"tid\":4712,\"ts\":1234572999"));
  EXPECT_TRUE(finds(outside, 31, false)) << text_of(outside);
}

// NCCL launches grouped calls at the group's end.
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

}  // namespace
}  // namespace profshim::test
