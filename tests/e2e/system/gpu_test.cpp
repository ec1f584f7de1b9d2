// [system] gpu with simulated GPUs and a simulated NVML.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kSpec = "[steps]\nsource = \"none\"\n[system]\ngpu = true\ninterval_seconds = 0.02\n";

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/')); }

GpuRun run_with(const std::string& nvml, std::vector<std::pair<std::string, std::string>> environment) {
  GpuJob job{.program = "launch_loop", .arguments = {"400", "10"}, .spec = kSpec};
  const std::string cuda = folder_of(built("tests/fakes/cuda13/libcudart.so.13"));
  const std::string path =
      nvml.empty() ? cuda : cuda + ":" + folder_of(built("tests/fakes/" + nvml + "/libnvidia-ml.so.1"));
  job.environment = {{"LD_LIBRARY_PATH", path}, {"FAKE_CUDA_KERNEL_NS", "1000000"}};
  job.environment.insert(job.environment.end(), environment.begin(), environment.end());
  return run_gpu(job);
}

// Returns the values of each counter by its name and unit.
std::map<std::string, std::set<std::string>> counters(const GpuRun& run) {
  std::map<std::string, std::set<std::string>> found;
  for (const SeenTrace& trace : run.traces) {
    for (const SeenEvent& event : trace.events) {
      if (event.phase != "C") continue;
      for (const auto& [unit, value] : event.args) found[event.name + " " + unit].insert(value);
    }
  }
  return found;
}

using Values = std::map<std::string, std::set<std::string>>;

TEST(SystemGpu, CountersAreThoseOfTheVisibleDevices) {
  const GpuRun run = run_with("nvml", {{"FAKE_CUDA_DEVICES", "2"}, {"CUDA_VISIBLE_DEVICES", "2,0"}});

  ASSERT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(counters(run), (Values{{"GPU 0 utilization %", {"30"}},
                                   {"GPU 0 memory bytes", {"3221225472"}},
                                   {"GPU 0 SM clock MHz", {"1702"}},
                                   {"GPU 0 memory clock MHz", {"2602"}},
                                   {"GPU 0 power W", {"302.25"}},
                                   {"GPU 1 utilization %", {"10"}},
                                   {"GPU 1 memory bytes", {"1073741824"}},
                                   {"GPU 1 SM clock MHz", {"1700"}},
                                   {"GPU 1 memory clock MHz", {"2600"}},
                                   {"GPU 1 power W", {"300.25"}}}));
  EXPECT_EQ(run.traces.at(0).property("problems"), "[]");
  for (const SeenEvent& event : run.traces[0].events)
    EXPECT_NE(event.name.rfind("cuDeviceGet", 0), 0u) << "a call of the sampler, not of the job: " << event.name;
}

TEST(SystemGpu, DevicesAreFoundByTheirBusIfNvmlDoesNotKnowTheirUuid) {
  const GpuRun run = run_with("nvml", {{"FAKE_NVML_FAIL", "nvmlDeviceGetHandleByUUID=6"}});

  EXPECT_EQ(counters(run)["GPU 0 utilization %"], std::set<std::string>{"10"}) << run.outcome.err;
}

TEST(SystemGpu, TheTraceSaysOnceWhatNvmlDoesNotShow) {
  const GpuRun run = run_with("nvml_without_power", {{"FAKE_NVML_FAIL", "nvmlDeviceGetUtilizationRates=3"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.traces[0].property("problems"),
            "[{\"source\":\"system\",\"lost\":\"the utilization of GPU 0 cannot be shown: Not Supported\"},"
            "{\"source\":\"system\",\"lost\":\"the power of GPU 0 cannot be shown: this NVML lacks the function\"}]");
  const Values found = counters(run);
  EXPECT_EQ(found.size(), 3u);
  EXPECT_TRUE(found.contains("GPU 0 memory bytes"));
}

TEST(SystemGpu, TheTraceSaysWhyNvmlDoesNotWork) {
  const GpuRun missing = run_with("", {}), broken = run_with("nvml", {{"FAKE_NVML_FAIL", "nvmlInit_v2=9"}});

  ASSERT_EQ(missing.traces.size(), 1u) << missing.outcome.err;
  ASSERT_EQ(broken.traces.size(), 1u) << broken.outcome.err;
  EXPECT_NE(missing.traces[0].property("problems").find("counters of the GPUs cannot be shown: libnvidia-ml.so.1"),
            std::string::npos)
      << missing.traces[0].property("problems");
  EXPECT_NE(broken.traces[0].property("problems").find("nvmlInit_v2 failed: Driver Not Loaded"), std::string::npos)
      << broken.traces[0].property("problems");
  EXPECT_TRUE(counters(missing).empty());
  EXPECT_TRUE(counters(broken).empty());
}

// The job ends while NVML starts.
TEST(SystemGpu, ASlowNvmlDoesNotHoldTheJob) {
  const GpuRun slow = run_with("nvml", {{"FAKE_NVML_SLOW", "600000"}});

  ASSERT_EQ(slow.outcome.ending(), "exit 0") << slow.outcome.err;
  ASSERT_EQ(slow.traces.size(), 1u) << slow.outcome.err;
  EXPECT_LT(slow.outcome.seconds, 600);
  EXPECT_EQ(of_category(slow.traces[0], "kernel").size(), static_cast<std::size_t>(slow.printed.at("kernels")));
  EXPECT_TRUE(counters(slow).empty());
}

}  // namespace
}  // namespace profshim::e2e
