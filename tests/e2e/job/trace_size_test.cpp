#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr double kMiB = 1 << 20;

// Returns the size of the job's trace divided by the limit, or 0 without a trace.
double filled(Job job, double limit_mib, const std::string& settings) {
  const ScratchFolder scratch;
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SET",
                               "steps.source=none limits.disk_free=1MiB output.gzip=false "
                               "limits.trace_size=" +
                                   std::to_string(static_cast<int>(limit_mib)) + "MiB " + settings);
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::vector<std::string> traces = traces_below(scratch / "profshim");
  EXPECT_EQ(traces.size(), 1u) << outcome.err;
  if (traces.empty()) return 0;
  EXPECT_NE(outcome.err.find("1 of 1 windows closed early"), std::string::npos) << outcome.err;
  return static_cast<double>(std::filesystem::file_size(traces[0])) / (limit_mib * kMiB);
}

void expect_nearly_full(double share) {
  EXPECT_GE(share, 0.85);
  EXPECT_LE(share, 1.0);
}

RUNS_ALONE(TraceSize.*);

TEST(TraceSize, MpiCallsFillTheLimit) {
  for (const Mpi mpi : installed_mpis()) {
    expect_nearly_full(
        filled(mpirun(mpi, 1, {built("tests/apps_limits/" + to_string(mpi) + "/paced_calls"), "150000"}), 32, ""));
  }
}

TEST(TraceSize, CallsWithStacksFillTheLimit) {
  const Mpi mpi = installed_mpis().front();
  expect_nearly_full(filled(mpirun(mpi, 1, {built("tests/apps_limits/" + to_string(mpi) + "/paced_calls"), "150000"}),
                            64, "capture.native_stack=true"));
}

TEST(TraceSize, NvtxRangesFillTheLimit) {
  NEEDS_NVTX();
  expect_nearly_full(filled(mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_ranges"), "300000"}), 32, ""));
}

}  // namespace
}  // namespace profshim::e2e
