#include "e2e/support/mpi_jobs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 2;

struct App {
  Mpi mpi;
  std::string name;
  std::vector<std::string> command;
};
void PrintTo(const App& app, std::ostream* out) { *out << to_string(app.mpi) << " " << app.name; }

std::vector<App> apps_of(Mpi mpi) {
  std::vector<App> apps;
  const std::string folder = PROFSHIM_SOURCE_DIR "/build/tests/apps/" + to_string(mpi);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file() && access(entry.path().c_str(), X_OK) == 0 && entry.path().extension().empty())
      apps.push_back({mpi, entry.path().filename().string(), {entry.path().string()}});
  const std::string script = PROFSHIM_SOURCE_DIR "/tests/apps/mpi/mpi4py_app.py";
  if (mpi == Mpi::kOpenMpi) apps.push_back({mpi, "mpi4py_app", {"/usr/bin/python3", script}});
  std::sort(apps.begin(), apps.end(), [](const App& a, const App& b) { return a.name < b.name; });
  return apps;
}

// Ranks print in any order.
std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string joined;
  for (const std::string& line : lines) joined += line + "\n";
  return joined;
}

struct Recorded : Both {
  std::vector<SeenTrace> traces;
};

/// Runs each program once, for all tests.
const Recorded& recorded_of(const App& app) {
  static std::map<std::pair<Mpi, std::string>, Recorded> known;
  const auto [found, is_new] = known.try_emplace({app.mpi, app.name});
  Recorded& recorded = found->second;
  if (!is_new) return recorded;
  const ScratchFolder scratch;
  Job job = mpirun(app.mpi, kRanks, app.command);
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  static_cast<Both&>(recorded) = run_both(job);
  recorded.traces = read_folder(scratch / "traces");
  return recorded;
}

/// mpi4py may call MPI_Bcast_c where the test program counts MPI_Bcast.
int seen_of(const std::string& function, const std::map<std::string, int>& printed,
            const std::map<std::string, int>& seen) {
  const auto count_of = [&seen](const std::string& name) {
    const auto found = seen.find(name);
    return found == seen.end() ? 0 : found->second;
  };
  const std::string large = function + "_c";
  return count_of(function) + (printed.count(large) == 0 ? count_of(large) : 0);
}

RUNS_IN_ONE_PROCESS(MpiJob);
class MpiJob : public testing::TestWithParam<App> {};

TEST_P(MpiJob, TraceHasTheCallCountsThatTheProgramPrints) {
  const Recorded& recorded = recorded_of(GetParam());

  EXPECT_EQ(recorded.without.ending(), recorded.with.ending()) << recorded.with.err;
  EXPECT_EQ(sorted_lines(recorded.without.out), sorted_lines(recorded.with.out));
  EXPECT_LE(recorded.with.shim_lines().size(), 1u) << recorded.with.err;  // rank 0's closing line
  const auto printed = printed_counts(recorded.with.out);
  ASSERT_EQ(printed.size(), std::size_t{kRanks}) << recorded.with.out;
  ASSERT_EQ(recorded.traces.size(), std::size_t{kRanks}) << recorded.with.err;
  for (const SeenTrace& trace : recorded.traces) {
    ASSERT_TRUE(trace.readable) << trace.path << ": " << trace.error;
    ASSERT_TRUE(printed.count(trace.rank())) << "rank " << trace.rank();
    const auto seen = trace.counts();
    const auto& own = printed.at(trace.rank());
    for (const auto& [function, count] : own)
      EXPECT_EQ(seen_of(function, own, seen), count) << function << " on rank " << trace.rank();
    EXPECT_EQ(trace.property("dropped_events"), "0");
    EXPECT_EQ(trace.property("complete"), "true");
  }
}

// Readers match the collectives of ranks by communicator and sequence number.
TEST_P(MpiJob, NumbersCollectivesAlikeOnAllRanks) {
  const Recorded& recorded = recorded_of(GetParam());

  ASSERT_EQ(recorded.traces.size(), std::size_t{kRanks}) << recorded.with.err;
  // Function names by group and sequence number, then by rank.
  std::map<std::pair<std::string, std::string>, std::map<int, std::string>> calls;
  for (const SeenTrace& trace : recorded.traces)
    for (const SeenEvent& event : trace.events) {
      const auto sequence = event.args.find("Seq");
      const auto group = event.args.find("comm id");
      if (event.phase == "X" && sequence != event.args.end() && group != event.args.end())
        calls[{group->second, sequence->second}][trace.rank()] = event.name;
    }
  for (const auto& [number, by_rank] : calls) {
    if (by_rank.size() < 2) continue;
    for (const auto& [rank, name] : by_rank)
      EXPECT_EQ(name, by_rank.begin()->second) << "number " << number.second << " of group " << number.first;
  }
  const auto printed = printed_counts(recorded.with.out);
  const bool has_allreduce = !printed.empty() && printed.begin()->second.count("MPI_Allreduce") != 0;
  EXPECT_TRUE(!has_allreduce || !calls.empty()) << "no collective carries a number";
}

// Only an MPI_Status names the source of a receive from MPI_ANY_SOURCE, but programs may pass MPI_STATUS_IGNORE.
TEST_P(MpiJob, KnowsWhereEveryMessageCameFrom) {
  const Recorded& recorded = recorded_of(GetParam());

  ASSERT_EQ(recorded.traces.size(), std::size_t{kRanks}) << recorded.with.err;
  for (const SeenTrace& trace : recorded.traces) {
    for (const SeenEvent& event : trace.events) {
      if (event.phase != "b" || event.name != "MPI_Irecv") continue;
      EXPECT_TRUE(event.args.count("source")) << "rank " << trace.rank() << " at " << event.ts_ns;
      EXPECT_TRUE(event.args.count("tag")) << "rank " << trace.rank() << " at " << event.ts_ns;
    }
  }
}

std::string name_of(const testing::TestParamInfo<App>& row) {
  std::string name = row.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(OpenMpi, MpiJob, testing::ValuesIn(apps_of(Mpi::kOpenMpi)), name_of);
INSTANTIATE_TEST_SUITE_P(Mpich, MpiJob, testing::ValuesIn(apps_of(Mpi::kMpich)), name_of);

TEST(MpiJobs, EveryProgramIsTested) {
  for (const Mpi mpi : installed_mpis())
    for (const char* name :
         {"allreduce_loop", "ring_isend", "persistent", "threads_multiple", "dlopen_local", "every_call"})
      built("tests/apps/" + to_string(mpi) + "/" + name);
}

TEST(MpiJobs, RecordsRankZeroAloneByDefault) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 4, {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "50"});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "profshim");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(traces[0].rank(), 0);
    EXPECT_EQ(json_member(traces[0].metadata.at("distributedInfo"), "world_size"), "4");
    EXPECT_EQ(traces[0].calls("MPI_Allreduce").size(), 50u);
  }
}

TEST(MpiJobs, AStartHasThePeerOfItsRequest) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/persistent"), "1"});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 2u) << outcome.err;
    for (const SeenTrace& trace : traces) {
      const auto starts = trace.calls("MPI_Start");
      ASSERT_EQ(starts.size(), 2u);
      EXPECT_EQ(starts[0]->args.count("source"), 1u);
      EXPECT_EQ(starts[1]->args.count("dest"), 1u);
      for (const auto* start : starts) EXPECT_EQ(start->args.count("target"), 0u);
    }
  }
}

// The library must not read counts beyond the size of the rank's own group.
TEST(MpiJobs, RecordsReduceScatterBetweenUnevenGroups) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 4, {built("tests/apps_ending/" + to_string(mpi) + "/uneven_groups")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 4u) << outcome.err;
    for (const SeenTrace& trace : traces) {
      for (const char* name : {"MPI_Reduce_scatter", "MPI_Reduce_scatter_block"}) {
        const auto calls = trace.calls(name);
        ASSERT_EQ(calls.size(), 1u);
        EXPECT_EQ(calls[0]->args.at("bytes"), std::to_string(12 * sizeof(int))) << name << " on " << trace.rank();
      }
    }
  }
}

TEST(MpiJobs, RecordsTheSelectedRanks) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 4, {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "50"});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    job.environment.emplace_back("PROFSHIM_RANKS", "1-2,last & !2");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    std::vector<int> ranks;
    for (const SeenTrace& trace : read_folder(scratch / "traces")) ranks.push_back(trace.rank());
    std::sort(ranks.begin(), ranks.end());
    EXPECT_EQ(ranks, (std::vector<int>{1, 2, 3})) << outcome.err;
  }
}

// The library has few slots for MPI_Op handles.
TEST(MpiJobs, FreedOperationsReleaseTheirSlots) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 1, {built("tests/apps/" + to_string(mpi) + "/many_operations")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(traces[0].property("names_lost"), "0");
    std::map<std::string, int> operations;
    for (const SeenEvent* call : traces[0].calls("MPI_Allreduce")) ++operations[call->args.at("op")];
    EXPECT_EQ(operations, (std::map<std::string, int>{{"user_op_0", 3000}, {"user_op_1", 3000}, {"MPI_SUM", 1}}));
  }
}

TEST(MpiJobs, ReusedHandleIsAnotherCommunicator) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 1, {built("tests/apps/" + to_string(mpi) + "/freed_unseen")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    std::map<std::string, int> numbers;
    for (const SeenEvent* call : traces[0].calls("MPI_Barrier")) ++numbers[call->args.at("Seq")];
    EXPECT_EQ(numbers, (std::map<std::string, int>{{"1", 20}, {"2", 20}})) << to_string(mpi);
  }
}

TEST(MpiJobs, EmptyRunIsReportedPlainly) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_memory/openmpi/memory_use"), "0"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

  const Outcome outcome = run(job);

  ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  EXPECT_NE(outcome.err.find("nothing was recorded: the only calls seen were those that start and end MPI"),
            std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
