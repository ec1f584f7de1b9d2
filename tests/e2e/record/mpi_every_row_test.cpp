#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kRanks = 2;

const std::map<std::string, std::string>& not_called() {
  static const std::map<std::string, std::string> rows = {
      {"MPI_Abort", "ends the job: Endings calls it"},
      {"MPI_Init_thread", "excludes MPI_Init: threads_multiple calls it"},
      {"MPI_Comm_spawn", "starts another job"},
      {"MPI_Comm_spawn_multiple", "starts another job"},
      {"MPI_Comm_accept", "MPICH has no ports over UCX"},
      {"MPI_Comm_connect", "MPICH has no ports over UCX"},
  };
  return rows;
}

using Calls = std::map<std::string, int>;
struct Counted {
  Calls printed, traced;
};

Counted run_every_call(Mpi mpi) {
  const ScratchFolder scratch;
  Job job = mpirun(mpi, kRanks, {built("tests/apps/" + to_string(mpi) + "/every_call")});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  Counted counted;
  for (const auto& [rank, calls] : printed_counts(outcome.out)) {
    for (const auto& [function, count] : calls) counted.printed[function] += count;
  }
  for (const SeenTrace& trace : read_folder(scratch / "traces")) {
    for (const auto& [function, count] : trace.counts()) counted.traced[function] += count;
  }
  return counted;
}

TEST(MpiEveryRow, IsCalledAndRecorded) {
  std::set<std::string> covered;
  for (const Mpi mpi : installed_mpis()) {
    Counted counted = run_every_call(mpi);
    for (const auto& [function, count] : counted.printed) {
      if (count > 0) covered.insert(function);
      EXPECT_TRUE(count > 0 || not_called().contains(function))
          << to_string(mpi) << " has " << function << ": tests/apps/mpi/every_call must call it";
      EXPECT_EQ(counted.traced[function], count) << function << " under " << to_string(mpi);
    }
  }
  if (installed_mpis().size() < 2) GTEST_SKIP() << "rows that only the other MPI has cannot be called";
  for (const char* const row : {
#define HOOK(name, ...) #name,
#include "profshim/hooks/mpi.def"
#undef HOOK
       }) {
    EXPECT_TRUE(covered.contains(row) || not_called().contains(row)) << "no MPI here has " << row;
  }
}

}  // namespace
}  // namespace profshim::e2e
