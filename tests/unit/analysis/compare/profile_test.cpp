#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "profshim/analysis/compare.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

std::string slice(const char* category, const std::string& name, int tid, int ts, int duration, int correlation = 0,
                  const std::string& args = "") {
  return ",\n{\"ph\": \"X\", \"cat\": \"" + std::string(category) + "\", \"name\": \"" + name +
         "\", \"pid\": 7, \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(ts) +
         ", \"dur\": " + std::to_string(duration) + ", \"args\": {\"correlation\": " + std::to_string(correlation) +
         ", \"bytes\": 8, \"comm\": \"MPI_COMM_WORLD\"" + args + "}}";
}

std::string trace(const std::string& events, bool complete = true) {
  return std::string("{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 1}, \"profshim\": ") +
         "{\"complete\": " + (complete ? "true" : "false") + "}, \"traceEvents\": [\n" +
         slice("user_annotation", "ProfilerStep#5", 7, 1000, 100).substr(2) +
         slice("user_annotation", "ProfilerStep#6", 7, 1100, 100) + events + "\n]}";
}

class CompareProfile : public testing::Test {
 protected:
  ProfileRank profile(const std::vector<std::string>& traces) {
    std::vector<std::string> files;
    for (const std::string& text : traces) {
      files.push_back(folder_.path() + "/" + std::to_string(files.size()) + ".json");
      std::ofstream(files.back()) << text;
    }
    const RunProfile run = profile_run(files, "run");
    EXPECT_EQ(run.ranks.size(), 1u);
    return run.ranks.at(0);
  }
  static std::vector<std::int64_t> counts(const ProfileRank& rank, RowKind kind, const std::string& name) {
    const auto at = rank.rows.find({kind, name});
    return at == rank.rows.end() ? std::vector<std::int64_t>{} : at->second.count;
  }
  const test::TemporaryFolder folder_;
};

using Counts = std::vector<std::int64_t>;

TEST_F(CompareProfile, HasTheCpuTimeOfEachStepAndTheCallsThatMayPoll) {
  const std::string later = slice("user_annotation", "ProfilerStep#7", 7, 1200, 100, 0, ", \"CPU (us)\": 60.5") +
                            slice("user_annotation", "ProfilerStep#8", 7, 1300, 100);
  const ProfileRank rank =
      profile({trace(later + slice("cpu_op", "MPI_Allreduce", 7, 1210, 30) +
                     slice("cuda_runtime", "cudaMemcpy", 7, 1230, 20) + slice("cpu_op", "MPI_Recv", 8, 1200, 90))});

  EXPECT_EQ(rank.cpu_ns, (Counts{-1, -1, 60500, -1}));
  EXPECT_EQ(rank.waiting_ns.at(2), 40000);
  EXPECT_TRUE(rank.instructions.empty());
}

TEST_F(CompareProfile, AKernelBelongsToTheStepThatLaunchedIt) {
  const ProfileRank rank =
      profile({trace(slice("cuda_runtime", "cudaLaunchKernel", 7, 1090, 5, 11) +
                     slice("cuda_driver", "cuLaunchKernel", 7, 1091, 3, 11) + slice("kernel", "gemm", 0, 1150, 20, 11) +
                     slice("kernel", "of warm-up", 0, 1010, 20, 3))});

  EXPECT_EQ(rank.steps, (std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 0}, {6, 0}}));
  EXPECT_EQ(counts(rank, RowKind::kKernel, "gemm"), (Counts{1, 0}));
  EXPECT_EQ(counts(rank, RowKind::kKernel, "of warm-up"), Counts{});
  EXPECT_EQ(rank.launches, (Counts{1, 0}));
  EXPECT_FALSE(rank.rows.at({RowKind::kKernel, "gemm"}).other_threads);
}

TEST_F(CompareProfile, CallsCountWhereTheyBegin) {
  const ProfileRank rank =
      profile({trace(slice("cpu_op", "MPI_Allreduce", 7, 1099, 10) + slice("cpu_op", "MPI_Allreduce", 7, 1100, 10) +
                     slice("cpu_op", "aten::add", 8, 1110, 10) + slice("cpu_op", "late", 7, 1200, 10))});

  EXPECT_EQ(counts(rank, RowKind::kCall, "MPI_Allreduce"), (Counts{1, 1}));
  EXPECT_FALSE(rank.rows.at({RowKind::kCall, "MPI_Allreduce"}).other_threads);
  EXPECT_TRUE(rank.rows.at({RowKind::kCall, "aten::add"}).other_threads);
  EXPECT_EQ(counts(rank, RowKind::kCall, "late"), Counts{});
  EXPECT_EQ(rank.communication_ns, (Counts{10000, 10000}));
  EXPECT_EQ(rank.mpi_bytes, (Counts{8, 8}));
  EXPECT_EQ(counts(rank, RowKind::kRange, "ProfilerStep#5"), Counts{});
}

TEST_F(CompareProfile, SumsOfImpossibleNumbersStayPositive) {
  std::string call = slice("cpu_op", "MPI_Allreduce", 7, 1050, 1);
  call.replace(call.find("\"bytes\": 8"), 10, "\"bytes\": 9223372036854775807");

  const ProfileRank rank = profile({trace(call + call + call)});

  EXPECT_EQ(rank.mpi_bytes, (Counts{std::int64_t{1} << 62, 0}));
}

TEST_F(CompareProfile, TheLastStepOfAJobThatEndedInItIsNoWholeOne) {
  const ProfileRank rank = profile({trace("", false)});

  EXPECT_EQ(rank.steps.size(), 1u);
}

// The markers of some jobs number the steps from 0 in each epoch.
TEST_F(CompareProfile, AStepNumberThatComesAgainIsAnotherStep) {
  const ProfileRank rank =
      profile({trace(slice("cpu_op", "MPI_Send", 7, 1000, 1)), trace(slice("cpu_op", "MPI_Recv", 7, 1100, 1))});

  EXPECT_EQ(rank.steps, (std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 0}, {6, 0}, {5, 1}, {6, 1}}));
  EXPECT_EQ(counts(rank, RowKind::kCall, "MPI_Send"), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(counts(rank, RowKind::kCall, "MPI_Recv"), (Counts{0, 0, 0, 1}));
}

const std::string kActor = R"(, "phase": "actor")", kSync = R"(, "phase": "sync", "outer phases": "actor")";

TEST_F(CompareProfile, APhaseHoldsWhatIsInsideOfItAndOfItsPhases) {
  const ProfileRank rank =
      profile({trace(slice("phase", "actor", 9, 1010, 50) + slice("phase", "sync", 10, 1030, 10) +
                     slice("phase", "actor", 9, 1110, 40) + slice("cpu_op", "MPI_Bcast", 7, 1020, 5, 0, kActor) +
                     slice("cpu_op", "MPI_Barrier", 7, 1031, 5, 0, kSync) + slice("cpu_op", "MPI_Barrier", 7, 1090, 5) +
                     slice("cuda_runtime", "cudaLaunchKernel", 7, 1120, 5, 11, kActor) +
                     slice("kernel", "gemm", 0, 1160, 20, 11, kActor))});

  ASSERT_EQ(rank.phases.size(), 2u);
  const ProfilePhase &actor = rank.phases.at("actor"), &sync = rank.phases.at("sync");
  EXPECT_EQ(actor.occurrences, (Counts{1, 1}));
  EXPECT_EQ(actor.time_ns, (Counts{50000, 40000}));
  EXPECT_EQ(actor.rows.at({RowKind::kCall, "MPI_Barrier"}).count, (Counts{1, 0}));
  EXPECT_EQ(actor.mpi_bytes, (Counts{16, 0}));
  EXPECT_EQ(actor.launches, (Counts{0, 1}));
  EXPECT_EQ(actor.rows.at({RowKind::kKernel, "gemm"}).time_ns, (Counts{0, 20000}));
  EXPECT_EQ(sync.occurrences, (Counts{1, 0}));
  EXPECT_EQ(sync.communication_ns, (Counts{5000, 0}));
  EXPECT_EQ(sync.rows.count({RowKind::kCall, "MPI_Bcast"}), 0u);
  EXPECT_EQ(counts(rank, RowKind::kCall, "MPI_Barrier"), (Counts{2, 0}));
}

TEST_F(CompareProfile, APhaseOfOneWindowHasNothingInTheOthers) {
  std::string later = trace("");
  for (const auto& [from, to] : {std::pair{"#5", "#7"}, {"#6", "#8"}}) later.replace(later.find(from), 2, to);

  const ProfileRank rank = profile({trace(slice("phase", "actor", 9, 1110, 40)), later});

  EXPECT_EQ(rank.phases.at("actor").occurrences, (Counts{0, 1, 0, 0}));
  EXPECT_EQ(rank.phases.at("actor").launches, (Counts{0, 0, 0, 0}));
}

std::string phase_window(int occurrence, const std::string& phase = "actor") {
  std::string text = trace(slice("cpu_op", "MPI_Bcast", 7, 1020, 5, 0, kActor));
  return text.replace(text.find("\"complete\""), 0,
                      R"("phase": {"name": ")" + phase + R"(", "occurrence": )" + std::to_string(occurrence) + "}, ");
}

TEST_F(CompareProfile, WindowsOfAPhaseAreNumberedByOccurrence) {
  const ProfileRank rank = profile({phase_window(3), phase_window(5)});

  EXPECT_EQ(rank.steps, (std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 0}, {5, 0}}));
  EXPECT_EQ(counts(rank, RowKind::kCall, "MPI_Bcast"), (Counts{1, 1}));
}

TEST_F(CompareProfile, WindowsOfTwoPhasesAreNoRun) {
  try {
    profile({phase_window(0), phase_window(0, "rollout")});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("is of the windows of the phase rollout, but "), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace profshim
