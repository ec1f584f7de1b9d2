// Phases of a GPU program, on a fake CUPTI.
#include <gtest/gtest.h>

#include "e2e/support/gpu_run.h"
#include "e2e/support/needs_nvtx.h"

namespace profshim::e2e {
namespace {

TEST(PhasesOnDevices, KernelsBelongToThePhaseThatLaunchedThem) {
  NEEDS_NVTX();
  GpuJob job;
  job.program = "long_kernel";
  job.environment = {{"FAKE_CUDA_KERNELS", "long_kernel=900000000,quick_kernel=1000000"}};
  job.spec =
      "[steps]\nsource = \"nvtx\"\npattern = \"no such range\"\n[[phase]]\nname = \"work\"\nnvtx = \"step\"\nmode = "
      "\"window\"\nschedule = { steps = [\"6-7\"] }\n";

  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 2u) << run.outcome.err;
  std::map<std::string, int> kernels;
  for (const SeenTrace& trace : run.traces) {
    for (const SeenEvent* kernel : of_category(trace, "kernel")) {
      ++kernels[json_member(trace.property("phase"), "occurrence") + " " + kernel->name.substr(0, 4)];
      EXPECT_EQ(kernel->args.at("phase"), "work");
    }
  }
  EXPECT_EQ(kernels, (std::map<std::string, int>{{"6 long", 1}, {"6 quic", 10}, {"7 quic", 10}}));
}

}  // namespace
}  // namespace profshim::e2e
