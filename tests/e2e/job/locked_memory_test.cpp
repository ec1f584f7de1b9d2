#include <gtest/gtest.h>

#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

TEST(LockedMemory, OfTheJobDoesNotMakeTheUnusedSpoolResident) {
  constexpr long kMostMore_mib = 200;  // the library, the tables in use, the stacks of its threads
  for (const Mpi mpi : installed_mpis()) {
    for (const char* when : {"early", "late"}) {
      const ScratchFolder scratch;
      Job job{.command = {built("tests/apps_memory/" + to_string(mpi) + "/locked"), when}};
      job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

      const Both both = run_both(job);

      if (both.without.ending() == "exit 4") GTEST_SKIP() << "memory cannot be locked here";
      ASSERT_EQ(both.with.ending(), "exit 0") << both.with.err;
      EXPECT_LT(std::stol(both.with.out), std::stol(both.without.out) + kMostMore_mib) << to_string(mpi) << when;
      const auto traces = read_folder(scratch / "traces");
      ASSERT_EQ(traces.size(), 1u) << both.with.err;
      EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 1000u);
    }
  }
}

}  // namespace
}  // namespace profshim::e2e
