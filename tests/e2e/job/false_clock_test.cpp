// Another preloaded library may tell the job a false time (libfaketime). Traces have the true time.
#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/base/clock.h"

namespace profshim::e2e {
namespace {

constexpr int kCalls = 2000;

class FalseClock : public testing::TestWithParam<std::string> {};

TEST_P(FalseClock, NeitherEndsTheJobNorShowsInTheTrace) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    const std::string fake = built("tests/fakes/false_clock.so"), late = built("tests/apps_ending/late_sigaction.so");
    Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", std::to_string(kCalls)}};
    job.environment = {{"FALSE_CLOCK_AHEAD", GetParam()},
                       {"PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces"))},
                       {"LD_PRELOAD", fake + ":" + late}};
    const Outcome without = run(job);
    job.environment.back().second = fake + ":" + shim_path() + ":" + late;
    const std::int64_t began_ns = realtime_ns();

    const Outcome with = run(job);

    const std::int64_t ended_ns = realtime_ns();
    EXPECT_EQ(without.ending(), "exit 0") << without.err;
    EXPECT_EQ(with.ending(), without.ending()) << to_string(mpi) << with.err;
    EXPECT_EQ(with.out, without.out);
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << with.err;
    const auto calls = traces[0].calls("MPI_Allreduce");
    ASSERT_EQ(calls.size(), std::size_t{kCalls});
    const std::int64_t base_ns = std::stoll(traces[0].metadata.at("baseTimeNanoseconds"));
    for (const SeenEvent* call : calls) {
      ASSERT_GE(base_ns + call->ts_ns, began_ns);
      ASSERT_LE(base_ns + call->ts_ns + call->duration_ns, ended_ns);
    }
    EXPECT_EQ(profshim({"verify", traces[0].path}).ending(), "exit 0");
  }
}
INSTANTIATE_TEST_SUITE_P(Seconds, FalseClock, testing::Values("-864000", "0", "1", "864000"), [](const auto& row) {
  return row.param[0] == '-' ? "behind_" + row.param.substr(1) : "ahead_" + row.param;
});

}  // namespace
}  // namespace profshim::e2e
