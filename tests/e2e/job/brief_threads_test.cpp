#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

struct Threads {
  const char *name, *batches, *alive, *calls;
  long sent;
};

struct Recorded {
  Outcome outcome;
  SeenTrace trace;
  long calls = 0, dropped = 0;
};

Recorded record(Mpi mpi, const Threads& threads) {
  const ScratchFolder scratch;
  Job job = mpirun(
      mpi, 1,
      {built("tests/apps_limits/" + to_string(mpi) + "/brief_threads"), threads.batches, threads.alive, threads.calls});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none limits.disk_free=1MiB output.gzip=false");
  Recorded found{run(job), {}};
  EXPECT_TRUE(found.outcome.ending() == "exit 0" || found.outcome.ending() == "exit 77") << found.outcome.err;
  auto traces = read_folder(scratch / "profshim");
  if (traces.size() == 1) {
    found.trace = std::move(traces[0]);
    for (const auto& [name, count] : found.trace.counts()) found.calls += name == "MPI_Send" ? count : 0;
    found.dropped = std::stol(found.trace.property("dropped_events"));
  }
  return found;
}

class BriefThreads : public testing::TestWithParam<Threads> {};

TEST_P(BriefThreads, KeepAllTheirCalls) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded found = record(mpi, GetParam());
    if (found.outcome.exit_status == 77) continue;

    EXPECT_EQ(found.calls, GetParam().sent) << to_string(mpi) << found.outcome.err;
    EXPECT_EQ(found.dropped, 0);
    EXPECT_EQ(found.trace.property("threads_lost"), "0");
    EXPECT_EQ(found.trace.property("complete"), "true");
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, BriefThreads,
                         testing::Values(Threads{"at_once", "1", "200", "40", 8'000},
                                         Threads{"one_after_the_other", "3000", "1", "40", 120'000},
                                         Threads{"very_many", "70000", "1", "2", 140'000},
                                         Threads{"at_once_again_and_again", "50", "200", "8", 80'000}),
                         [](const auto& row) { return row.param.name; });

TEST(ThreadsBeyondTheLimit, AreCountedAndReported) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded found = record(mpi, {"too_many", "1", "2000", "10", 20'000});
    if (found.outcome.exit_status == 77) continue;

    const long lost = std::stol(found.trace.property("threads_lost"));
    EXPECT_GE(lost, 2000 - 1024) << found.outcome.err;
    EXPECT_EQ(found.calls + found.dropped, 20'000);
    EXPECT_EQ(found.dropped, 10 * lost);
    EXPECT_EQ(found.trace.property("complete"), "false");
    const std::string sentence = std::to_string(found.dropped) + " events of " + std::to_string(lost) +
                                 " threads were not recorded: at most 1024 threads are recorded at a time";
    EXPECT_NE(found.trace.property("problems").find(sentence), std::string::npos) << found.trace.property("problems");
    EXPECT_NE(found.outcome.err.find(sentence), std::string::npos) << found.outcome.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
