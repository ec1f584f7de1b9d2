#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kLoop = 250, kMany = 20, kPauses = 5, kRounds = 3;  // as in tests/apps/mpi/polling.c
// A process that loses its CPU for so long begins a new event.
constexpr std::int64_t kShortestPause_ns = 5000;

struct Recorded {
  Outcome outcome;
  SeenTrace trace;  // of rank 0
};

Recorded record(Mpi mpi, const std::string& keys = "") {
  const ScratchFolder scratch;
  Job job = mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/polling")});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") + keys));
  Recorded recorded{run(job), {}};
  EXPECT_EQ(recorded.outcome.ending(), "exit 0") << recorded.outcome.err;
  for (SeenTrace& trace : read_folder(scratch / "traces")) {
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
    if (trace.rank() == 0) recorded.trace = std::move(trace);
  }
  return recorded;
}

bool has(const SeenEvent& event, const char* key) { return event.args.count(key) != 0; }

/// Returns how many events begin right after another one.
int rows_without_pause(const std::vector<const SeenEvent*>& rows) {
  int count = 0;
  for (std::size_t i = 1; i < rows.size(); ++i)
    count += rows[i]->ts_ns - (rows[i - 1]->ts_ns + rows[i - 1]->duration_ns) < kShortestPause_ns;
  return count;
}

TEST(MpiPolls, AreOneEventIfConsecutive) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded recorded = record(mpi);

    const auto rows = recorded.trace.calls("MPI polling");
    ASSERT_FALSE(rows.empty());
    // Without a pause, an event ends only if it cannot count one more function, and perhaps beside a barrier.
    EXPECT_LE(rows_without_pause(rows), 2 * kMany + 3 * kRounds) << to_string(mpi);
    auto printed = printed_counts(recorded.outcome.out).at(0);
    auto seen = recorded.trace.counts();
    int calls = 0;
    for (const char* name :
         {"MPI_Test", "MPI_Testany", "MPI_Iprobe", "MPI_Testall", "MPI_Testsome", "MPI_Request_get_status"}) {
      EXPECT_EQ(seen[name], printed[name]) << name;
      calls += printed[name];
    }
    EXPECT_LT(rows.size(), static_cast<std::size_t>(calls) / 4) << to_string(mpi);
    EXPECT_GE(std::stoi(recorded.trace.property("calls")), calls);
    for (const SeenEvent* row : rows) {
      const double in_calls = std::stod(row->args.at("in calls (us)"));
      EXPECT_GT(in_calls, 0);
      EXPECT_LE(in_calls, static_cast<double>(row->duration_ns) / 1000 * 1.01 + 0.01);
      EXPECT_EQ(row->category, "cpu_op");
    }
  }
}

TEST(MpiPolls, ProbesHaveTheirPeerAndCommunicator) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded recorded = record(mpi);

    int probes = 0;
    for (const SeenEvent* row : recorded.trace.calls("MPI polling")) {
      if (!has(*row, "MPI_Iprobe")) continue;
      ++probes;
      EXPECT_EQ(row->args.at("tag"), "99");
      EXPECT_EQ(row->args.at("comm"), "MPI_COMM_WORLD");
      EXPECT_FALSE(has(*row, "source"));
    }
    EXPECT_GT(probes, 0);
  }
}

TEST(MpiPolls, APauseEndsThem) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded recorded = record(mpi);

    for (const SeenEvent* row : recorded.trace.calls("MPI polling"))
      EXPECT_FALSE(has(*row, "MPI_Testall") && has(*row, "MPI_Iprobe"));
    // No pause follows the last MPI_Testall, so that call is counted with the next loop.
    EXPECT_GE(recorded.trace.calls("MPI_Testall").size(), std::size_t{kPauses - 1}) << to_string(mpi);
  }
}

TEST(MpiPolls, AnyOtherCallEndsThem) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded recorded = record(mpi);

    const auto barriers = recorded.trace.calls("MPI_Barrier");
    ASSERT_EQ(barriers.size(), std::size_t{kRounds});
    for (const SeenEvent* row : recorded.trace.calls("MPI polling")) {
      for (const SeenEvent* barrier : barriers)
        EXPECT_TRUE(row->ts_ns + row->duration_ns <= barrier->ts_ns ||
                    barrier->ts_ns + barrier->duration_ns <= row->ts_ns);
    }
  }
}

TEST(MpiPolls, AreSeparateEventsIfTheSpecSaysSo) {
  for (const Mpi mpi : installed_mpis()) {
    const Recorded recorded = record(mpi, "[capture]\nmpi_polls = \"each\"\n");

    EXPECT_TRUE(recorded.trace.calls("MPI polling").empty());
    EXPECT_EQ(recorded.trace.calls("MPI_Testany").size(), std::size_t{kLoop});
    EXPECT_EQ(recorded.trace.calls("MPI_Iprobe").size(), std::size_t{kLoop});
    EXPECT_EQ(recorded.trace.calls("MPI_Testall").size(), std::size_t{kMany + kPauses});
  }
}

TEST(MpiPolls, DoNotCrossTheBoundaryOfARange) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_polls")});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].counts()["MPI_Test"], 400);
  const auto ranges = traces[0].calls("inside");
  ASSERT_EQ(ranges.size(), 20u);
  for (const SeenEvent* row : traces[0].calls("MPI polling")) {
    EXPECT_LE(std::stoi(row->args.at("MPI_Test")), 10);
    for (const SeenEvent* range : ranges) {
      const bool inside =
          row->ts_ns >= range->ts_ns && row->ts_ns + row->duration_ns <= range->ts_ns + range->duration_ns;
      const bool apart =
          row->ts_ns + row->duration_ns <= range->ts_ns || row->ts_ns >= range->ts_ns + range->duration_ns;
      EXPECT_TRUE(inside || apart);
    }
  }
}

}  // namespace
}  // namespace profshim::e2e
