#include <gtest/gtest.h>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

TEST(NvtxActivity, StepAndEpochRangesStayWithoutIt) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  const Outcome outcome = run(
      epochs_job(scratch, {"0", "3", "4"},
                 "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\nepoch = \"epoch *\"\n[schedule]\nskip_first = 2\n"
                 "warmup = 1\nactive = 5\n[capture]\nactivities = [\"mpi\"]\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{3, 4, 5, 6, 7}));
  for (const char* step : {"step 3", "step 4", "step 7"}) EXPECT_EQ(traces[0].calls(step).size(), 1u) << step;
  EXPECT_EQ(traces[0].calls("epoch 1").size(), 1u);
  EXPECT_EQ(traces[0].calls("inside").size(), 0u);
}

}  // namespace
}  // namespace profshim::e2e
