#include "profshim/base/rank.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "profshim/base/job_identity.h"
#include "profshim/base/process_identity.h"

namespace profshim {
namespace {

class Environment {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;
  explicit Environment(const Values& values) {
    for (const char* name : {"RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "GROUP_RANK",
                             "NODE_RANK",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "PMIX_RANK",
                             "PMI_RANK",
                             "PMI_SIZE",
                             "MPI_LOCALRANKID",
                             "MPI_LOCALNRANKS",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_STEP_ID",
                             "SLURM_LOCALID",
                             "SLURM_NODEID",
                             "SLURM_JOB_ID",
                             "PMIX_NAMESPACE",
                             "TORCHELASTIC_RUN_ID"}) {
      if (const char* before = std::getenv(name)) before_[name] = before;
      unsetenv(name);
      touched_.push_back(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const std::string& name : touched_) {
      const auto before = before_.find(name);
      if (before == before_.end()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), before->second.c_str(), 1);
      }
    }
  }

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> touched_;
};

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

TEST(JobIdentity, IsTheJobIdOfTheScheduler) {
  const Environment environment(Environment::Values{{"SLURM_JOB_ID", "4711"}});

  EXPECT_EQ(job_identity().key, "slurm-4711");
}

TEST(JobIdentity, HasARendezvousForSeveralHosts) {
  const Environment several({{"RANK", "9"},
                             {"WORLD_SIZE", "16"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "8"},
                             {"MASTER_ADDR", "node1"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_EQ(job_identity().rendezvous, "node1:29500/16");
}

TEST(JobIdentity, HasNoRendezvousOnOneHost) {
  const Environment one({{"RANK", "1"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "8"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29500"}});
  EXPECT_EQ(job_identity().rendezvous, "");
}

TEST(JobIdentity, IsTheLauncherWithoutAScheduler) {
  const Environment environment(Environment::Values{});

  EXPECT_EQ(job_identity().key, job_identity().key);
  EXPECT_NE(job_identity().key.find(std::to_string(getppid())), std::string::npos);
}

TEST(ProcessStartTime, IsZeroForAMissingProcess) {
  EXPECT_NE(process_start_time(getpid()), 0u);
  EXPECT_EQ(process_start_time(0x7ffffff0), 0u);
}

}  // namespace
}  // namespace profshim
