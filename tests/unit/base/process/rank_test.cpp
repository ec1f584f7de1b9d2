#include "profshim/base/rank.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "launch_variables.h"
#include "profshim/base/process_identity.h"

namespace profshim {
namespace {

using test::Environment;

TEST(RankFromEnvironment, ReadsTorchrun) {
  const Environment environment(
      {{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "8"}, {"GROUP_RANK", "1"}});

  const Rank rank = rank_from_environment();

  EXPECT_EQ(rank.rank, 9);
  EXPECT_EQ(rank.world_size, 16);
  EXPECT_EQ(rank.local_rank, 1);
  EXPECT_EQ(rank.node_rank, 1);
  EXPECT_EQ(rank.source, "RANK");
}

TEST(RankFromEnvironment, ReadsRayTrain) {
  const Environment environment(
      {{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "8"}, {"NODE_RANK", "1"}});

  EXPECT_EQ(rank_from_environment().node_rank, 1);
}

TEST(RankFromProgram, ReadsTheRestFromTheEnvironmentOfTheSameJob) {
  const Environment environment({{"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"NODE_RANK", "1"}});

  const Rank rank = rank_from_program(3, 4, "torch.distributed");
  const Rank of_another_job = rank_from_program(0, 2, "torch.distributed");

  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world_size, 4);
  EXPECT_EQ(rank.local_rank, 1);
  EXPECT_EQ(rank.node_rank, 1);
  EXPECT_EQ(rank.source, "torch.distributed");
  EXPECT_EQ(of_another_job.rank, 0);
  EXPECT_EQ(of_another_job.local_rank, -1);
  EXPECT_EQ(of_another_job.node_rank, -1);
}

TEST(RankFromEnvironment, ReadsOpenMpiAndHydra) {
  {
    const Environment environment({{"OMPI_COMM_WORLD_RANK", "3"},
                                   {"OMPI_COMM_WORLD_SIZE", "4"},
                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
    EXPECT_EQ(rank_from_environment().rank, 3);
    EXPECT_EQ(rank_from_environment().node_rank, 0);  // all ranks are on one node
  }
  const Environment environment({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}});
  EXPECT_EQ(rank_from_environment().rank, 1);
  EXPECT_EQ(rank_from_environment().local_rank, 1);
}

TEST(RankFromEnvironment, ABatchScriptOfSlurmIsNotARank) {
  {
    const Environment environment({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "batch"}});
    EXPECT_EQ(rank_from_environment().rank, -1);
  }
  const Environment environment({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(rank_from_environment().rank, 2);
}

TEST(RankFromEnvironment, OnlyNumbersAreRanks) {
  const Environment environment(Environment::Values{{"RANK", "two"}});

  EXPECT_EQ(rank_from_environment().rank, -1);
}

TEST(RankContradictions, NamesTheVariablesThatDisagree) {
  const Environment environment({{"RANK", "0"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  Rank actual;
  actual.rank = 3;

  EXPECT_EQ(rank_contradictions(actual), std::vector<std::string>{"RANK=0"});
}

TEST(ProcessStartTime, IsZeroForAMissingProcess) {
  EXPECT_NE(process_start_time(getpid()), 0u);
  EXPECT_EQ(process_start_time(0x7ffffff0), 0u);
}

}  // namespace
}  // namespace profshim
