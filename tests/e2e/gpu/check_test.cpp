#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

Outcome gpu_check(const std::string& arguments, const std::string& environment = "") {
  Job job = shell(environment + " " + PROFSHIM_SOURCE_DIR "/scripts/gpu_check.sh " + arguments);
  job.preload = false;
  return run(job);
}

TEST(GpuCheck, ADryRunListsEveryCheckAndRunsNothing) {
  const ScratchFolder scratch;
  const Outcome listed = gpu_check("--dry-run", "OUT='" + (scratch / "out") + "'");

  EXPECT_EQ(listed.ending(), "exit 0") << listed.err;
  EXPECT_GE(std::count(listed.out.begin(), listed.out.end(), '\n'), 20);
  for (const char* check : {"machine ", "static ", "late ", "busy ", "launch_overhead ", "torch_agrees ", "torchrun "})
    EXPECT_NE(listed.out.find(check), std::string::npos) << check;
  EXPECT_LT(listed.out.find("recordings "), listed.out.find("shared ")) << "recordings come first";
  EXPECT_LT(listed.out.find("recordings_torch "), listed.out.find("shared "));
  EXPECT_TRUE(files_below(scratch.path()).empty());
}

TEST(GpuCheck, TheListAndTheFunctionsAgree) {
  const std::string folder = PROFSHIM_SOURCE_DIR "/tests/gpu/checks";
  std::string script;
  for (const std::string& file : files_below(folder)) script += "\n" + text_of_file(folder + "/" + file);
  std::istringstream listed(gpu_check("--dry-run").out);
  int checks = 0;
  for (std::string line; std::getline(listed, line); ++checks) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_NE(script.find("\ncheck_" + name + "()"), std::string::npos) << name;
  }
  int functions = 0;
  for (std::size_t at = 0; (at = script.find("\ncheck_", at)) != std::string::npos; ++at) {
    const std::size_t end = script.find_first_of("()= ", at + 1);
    functions += script.compare(end, 2, "()") == 0 ? 1 : 0;
  }
  EXPECT_EQ(checks, functions);
}

TEST(GpuCheck, OnlyTakesNamesThatExist) {
  EXPECT_EQ(gpu_check("--dry-run --only late busy").out.find("static"), std::string::npos);
  EXPECT_EQ(gpu_check("--only no_such_check").ending(), "exit 2");
  EXPECT_EQ(gpu_check("--no-such-option").ending(), "exit 2");
}

Outcome function_of_gpu_check(const std::string& name, const std::string& setting) {
  Job job = shell("eval \"$(sed -n '/^" + name + "()/,/}$/p' " PROFSHIM_SOURCE_DIR "/scripts/gpu_check.sh)\"; " +
                  setting + "; " + name);
  job.preload = false;
  return run(job);
}

// `timeout 0` sets no limit, and `timeout` refuses negative times.
TEST(GpuCheck, NoTimeLeftDoesNotMeanNoLimit) {
  EXPECT_EQ(function_of_gpu_check("seconds_left", "unset SECONDS; limit=480; SECONDS=470").out, "10\n");
  EXPECT_EQ(function_of_gpu_check("seconds_left", "unset SECONDS; limit=480; SECONDS=480").out, "1\n");
  EXPECT_EQ(function_of_gpu_check("seconds_left", "unset SECONDS; limit=480; SECONDS=490").out, "1\n");
}

struct Kernel {
  const char* name;
  int begin, length, correlation;
};

std::string trace_of(const std::vector<Kernel>& launches, const std::vector<Kernel>& kernels) {
  std::string text = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n";
  const auto add = [&text](const std::string& category, const Kernel& k, const std::string& more = "") {
    text += "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + k.name +
            "\", \"pid\": 1, \"tid\": 1, \"ts\": " + std::to_string(k.begin) +
            ", \"dur\": " + std::to_string(k.length) +
            ", \"args\": {\"correlation\": " + std::to_string(k.correlation) + more + "}},\n";
  };
  for (const Kernel& launch : launches) add("cuda_runtime", launch);
  for (const Kernel& kernel : kernels) add("kernel", kernel);
  add("user_annotation", {"ProfilerStep#3", 1000, 1000, 0});
  add("user_annotation", {"ProfilerStep#4", 2000, 1000, 0});
  text.erase(text.size() - 2);
  return text + "\n]}\n";
}

const std::vector<Kernel> kLaunches = {{"cudaLaunchKernel", 1100, 5, 7}, {"cudaLaunchKernel", 2100, 5, 8}};
const std::vector<Kernel> kKernels = {{"alpha", 1200, 100, 7}, {"alpha", 5000, 100, 8}};

class CheckTrace : public ::testing::Test {
 protected:
  Outcome check(const std::string& what, const std::string& trace, const std::string& rest = "") {
    Job job = shell(built("tests/gpu/check_trace") + " " + what + " " + scratch_.write("t.json", trace) + " " + rest);
    job.preload = false;
    return run(job);
  }
  std::string file(const std::string& name, const std::string& text) { return scratch_.write(name, text); }
  ScratchFolder scratch_;
};

TEST_F(CheckTrace, CountsTheWorkOfTheStepsInTheTrace) {
  const std::string good = file("good", "per_step alpha 1\n"), bad = file("bad", "per_step alpha 2\n");
  EXPECT_EQ(check("counts", trace_of(kLaunches, kKernels), good).ending(), "exit 0");
  EXPECT_EQ(check("counts", trace_of(kLaunches, kKernels), bad).ending(), "exit 1");
  EXPECT_EQ(check("counts", trace_of(kLaunches, {kKernels[0]}), good).ending(), "exit 1");
  EXPECT_EQ(check("counts", trace_of(kLaunches, kKernels), file("empty", "")).ending(), "exit 1") << "nothing to count";
}

TEST_F(CheckTrace, EveryKernelHasItsLaunchInTheWindow) {
  EXPECT_EQ(check("whole", trace_of(kLaunches, kKernels)).ending(), "exit 0") << "also when it ends after the window";
  EXPECT_EQ(check("whole", trace_of({kLaunches[0]}, kKernels)).ending(), "exit 1") << "without a launch";
  EXPECT_EQ(check("whole", trace_of(kLaunches, {kKernels[0]})).ending(), "exit 1") << "a launch without its kernel";
  EXPECT_EQ(check("whole", trace_of(kLaunches, {kKernels[0], {"alpha", 2000, 1, 8}})).ending(), "exit 1")
      << "before its launch";
  EXPECT_NE(check("whole", trace_of(kLaunches, {kKernels[0], {"alpha", 2000, 1, 8}})).out.find("by 100000 ns at most"),
            std::string::npos);
  EXPECT_EQ(check("whole", trace_of({{"cudaLaunchKernel", 3100, 5, 7}}, {{"alpha", 3200, 1, 7}})).ending(), "exit 1")
      << "launched after the window";
  EXPECT_EQ(check("whole", trace_of({}, {})).ending(), "exit 1") << "nothing at all";
}

// In a real trace (A100), cudnn_convolution made three memset calls without device activity.
TEST_F(CheckTrace, AMemsetCallNeedsNoActivityAndACopyCallNeedsOne) {
  std::vector<Kernel> calls = kLaunches;
  calls.push_back({"cudaMemsetAsync", 1300, 5, 9});
  const Outcome memset = check("whole", trace_of(calls, kKernels));
  EXPECT_EQ(memset.ending(), "exit 0") << memset.out;
  EXPECT_NE(memset.out.find("0 of 3 launches without device activity, and 1 memsets"), std::string::npos) << memset.out;
  calls.back().name = "cudaMemcpyAsync";
  EXPECT_EQ(check("whole", trace_of(calls, kKernels)).ending(), "exit 1");
}

TEST_F(CheckTrace, ChecksStepsAndLengths) {
  const std::string trace = trace_of(kLaunches, kKernels);
  EXPECT_EQ(check("steps", trace, "3 4").ending(), "exit 0");
  EXPECT_EQ(check("steps", trace, "3 5").ending(), "exit 1");
  EXPECT_EQ(check("length", trace, "alpha 101000 2").ending(), "exit 0");
  EXPECT_EQ(check("length", trace, "alpha 110000 2").ending(), "exit 1");
  EXPECT_EQ(check("length", trace, "beta 100000 2").ending(), "exit 1") << "there is none";
}

TEST_F(CheckTrace, ComparesTheKernelsWithThoseOfAnotherTrace) {
  const std::string trace = trace_of(kLaunches, kKernels);
  EXPECT_EQ(check("same", trace, file("same.json", trace) + " 1").ending(), "exit 0");
  const std::string longer =
      file("longer.json", trace_of(kLaunches, {{"alpha", 1200, 100, 7}, {"alpha", 5000, 110, 8}}));
  EXPECT_EQ(check("same", trace, longer + " 1").ending(), "exit 1");
  EXPECT_EQ(check("same", trace, longer + " 10").ending(), "exit 0");
  const std::string other = file("other.json", trace_of(kLaunches, {{"alpha", 1200, 100, 7}, {"beta", 5000, 100, 8}}));
  EXPECT_EQ(check("same", trace, other + " 1").ending(), "exit 1");
  EXPECT_EQ(check("same", trace, (scratch_ / "missing.json") + " 1").ending(), "exit 1");
}

TEST_F(CheckTrace, HostCallsAloneHaveNoDeviceWork) {
  const std::string output = file("out", "per_step alpha 1\n");
  EXPECT_EQ(check("hosted", trace_of(kLaunches, {}), output).ending(), "exit 0");
  EXPECT_EQ(check("hosted", trace_of(kLaunches, kKernels), output).ending(), "exit 1");
  EXPECT_EQ(check("hosted", trace_of({kLaunches[0]}, {}), output).ending(), "exit 1");
}

TEST_F(CheckTrace, AKernelOfNcclNeedsItsCollective) {
  EXPECT_EQ(check("nccl", trace_of(kLaunches, {{"ncclDevKernel_AllReduce", 1200, 9, 7}})).ending(), "exit 1");
  EXPECT_EQ(check("nccl", trace_of(kLaunches, kKernels)).ending(), "exit 1") << "there is none";
}

TEST_F(CheckTrace, EveryGraphLaunchHasAllItsNodes) {
  const std::string each = file("out", "per_step alpha 1\nper_step beta 1\nper_step graph 1\n");
  const std::vector<Kernel> launches = {{"cudaGraphLaunch", 1100, 5, 7}, {"cudaGraphLaunch", 2100, 5, 8}};
  const std::vector<Kernel> nodes = {
      {"alpha", 1200, 1, 7}, {"beta", 1300, 1, 7}, {"alpha", 2200, 1, 8}, {"beta", 2300, 1, 8}};
  EXPECT_EQ(check("graphs", trace_of(launches, nodes), each).ending(), "exit 0");
  EXPECT_EQ(check("graphs", trace_of(launches, {nodes[0], nodes[1], nodes[2]}), each).ending(), "exit 1");
  EXPECT_EQ(check("graphs", trace_of({launches[0]}, {nodes[0], nodes[1]}), each).ending(), "exit 1");
  EXPECT_EQ(check("graphs", trace_of(launches, {nodes[0], nodes[1], nodes[2], nodes[3], {"beta", 2400, 1, 9}}), each)
                .ending(),
            "exit 1")
      << "a node without a launch";
  EXPECT_EQ(check("graphs", trace_of(launches, {}), each).ending(), "exit 1");
}

std::string with(std::string trace, const std::string& events) {
  return trace.insert(trace.find("{\"ph\""), events + ",\n");
}

TEST_F(CheckTrace, CountsDeviceAllocationsAndReleases) {
  const auto entry = [](int device_type, int bytes) {
    return R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1100,)"
           R"("args":{"Device Type":)" +
           std::to_string(device_type) + R"(,"Device Id":0,"Addr":1,"Bytes":)" + std::to_string(bytes) + "}}";
  };
  const std::string each = file("out", "per_step allocation 1\nper_step release 1\n");
  const std::string two = entry(1, 8) + ",\n" + entry(1, -8) + ",\n" + entry(1, 8) + ",\n" + entry(1, -8);
  EXPECT_EQ(check("memory", with(trace_of({}, {}), two), each).ending(), "exit 0");
  EXPECT_EQ(check("memory", with(trace_of({}, {}), two + ",\n" + entry(0, 8)), each).ending(), "exit 0") << "the CPU's";
  EXPECT_EQ(check("memory", with(trace_of({}, {}), two + ",\n" + entry(1, 8)), each).ending(), "exit 1");
  EXPECT_EQ(check("memory", with(trace_of({}, {}), two), file("none", "")).ending(), "exit 1") << "nothing to count";
}

TEST_F(CheckTrace, OneRankOfNcclLaunchesInItsCalls) {
  const std::string call =
      R"({"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":1,"tid":1,"ts":1090,"dur":50,"args":{}})";
  const std::vector<Kernel> kernel = {{"(anonymous namespace)::oneRankReduce<float>", 1200, 9, 7}};
  EXPECT_EQ(check("one_rank", with(trace_of(kLaunches, kernel), call)).ending(), "exit 0");
  EXPECT_EQ(check("one_rank", with(trace_of(kLaunches, {{"ncclDevKernel_X", 1200, 9, 7}}), call)).ending(), "exit 0");
  EXPECT_EQ(check("one_rank", with(trace_of(kLaunches, kKernels), call)).ending(), "exit 1") << "no kernel of NCCL";
  EXPECT_EQ(check("one_rank", with(trace_of(kLaunches, {{"oneRankReduce", 2200, 9, 8}}), call)).ending(), "exit 1")
      << "outside of the call";
  EXPECT_EQ(check("one_rank", trace_of(kLaunches, kernel)).ending(), "exit 1") << "no call";
}

// Trace times are in microseconds after the base time, log times in nanoseconds since the epoch.
TEST_F(CheckTrace, ReadsTheTimeUntilCuptiWasOff) {
  std::string trace = trace_of(kLaunches, kKernels);
  trace.insert(1, "\"baseTimeNanoseconds\": 1000000000,");
  const std::string on = "1000500000 900 1 cuptiActivityEnable 10 0 0\n";
  const std::string early = "1002000000 900 1 cuptiActivityDisable 10 0 0\n";
  const std::string off = "1007099000 1000 1 cuptiActivityDisable 10 0 0\n";
  const Outcome seen = check("off_after", trace, file("log", on + early + off));
  EXPECT_EQ(seen.ending(), "exit 0");
  EXPECT_EQ(seen.out, "ok: CUPTI off 2.0 ms after the last device activity of the window\n");
  EXPECT_EQ(check("off_after", trace, file("early", on + early)).ending(), "exit 1");
  EXPECT_EQ(check("off_after", trace, (scratch_ / "missing")).ending(), "exit 1");
}

TEST_F(CheckTrace, WrongUsageIsAnError) { EXPECT_EQ(check("nonsense", "").ending(), "exit 2"); }

}  // namespace
}  // namespace profshim::e2e
