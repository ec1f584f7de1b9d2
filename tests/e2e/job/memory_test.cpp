#include <gtest/gtest.h>

#include <cstdlib>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr const char* kCalls = "2000000";  // 128 MB of events

long peak_growth_kib(Mpi mpi, bool preload, const std::string& settings) {
  const ScratchFolder scratch;
  Job job = mpirun(mpi, 1, {built("tests/apps_memory/" + to_string(mpi) + "/memory_use"), kCalls});
  job.preload = preload;
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SET", settings);
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(traces_below(scratch / "profshim").empty(), !preload) << outcome.err;
  return std::strtol(outcome.out.c_str(), nullptr, 10);
}

class HostMemory : public testing::TestWithParam<const char*> {};

TEST_P(HostMemory, IsNeverExceeded) {
  const std::string settings =
      std::string("limits.host_memory=32MiB limits.disk_free=1MiB output.gzip=true ") + GetParam();
  for (const Mpi mpi : installed_mpis()) {
    const long without = peak_growth_kib(mpi, false, settings);

    const long with = peak_growth_kib(mpi, true, settings);

    EXPECT_GT(with, without + 4096) << "the recording used hardly any memory";
    EXPECT_LE(with, without + 32 * 1024) << to_string(mpi);
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, HostMemory,
                         testing::Values("steps.source=none", "steps.source=none limits.on_limit=drop_new",
                                         "steps.source=none limits.on_limit=drop_old",
                                         "steps.source=collective steps.pattern=MPI_Barrier steps.every=100000 "
                                         "schedule.skip_first=0 schedule.warmup=0 schedule.repeat=0"),
                         [](const auto& row) { return "settings_" + std::to_string(row.index); });

TEST(MemoryLimits, LossesByALimitAreReportedAtTheEnd) {
  struct Case {
    const char *settings, *calls, *line;
  };
  for (const Case& c :
       {Case{"limits.host_memory=32MiB limits.on_limit=drop_new", kCalls, " events dropped: see \"dropped_events\""},
        Case{"limits.trace_size=1MiB", kCalls, "1 of 1 windows closed early"},
        Case{"limits.host_memory=2GiB", "1000", ""}}) {
    const ScratchFolder scratch;
    Job job = mpirun(installed_mpis().front(), 1,
                     {built("tests/apps_memory/" + to_string(installed_mpis().front()) + "/memory_use"), c.calls});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SET", std::string("steps.source=none limits.disk_free=1MiB ") + c.settings);

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const bool says = outcome.err.find(" dropped: see") != std::string::npos;
    EXPECT_EQ(says, *c.line != '\0') << c.settings << outcome.err;
    EXPECT_NE(outcome.err.find(c.line), std::string::npos) << c.settings << outcome.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
