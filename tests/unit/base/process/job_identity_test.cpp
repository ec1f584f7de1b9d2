#include "profshim/base/job_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "launch_variables.h"
#include "profshim/base/process_identity.h"

namespace profshim {
namespace {

using test::Environment;

JobIdentity identity() { return job_identity(rank_from_environment()); }

std::string text_of(int pid) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return std::string(host) + "/" + std::to_string(pid) + "/" + std::to_string(process_start_time(pid));
}

const Environment::Values kRankOfTwoNodes = {{"RANK", "9"},
                                             {"WORLD_SIZE", "16"},
                                             {"LOCAL_RANK", "1"},
                                             {"LOCAL_WORLD_SIZE", "8"},
                                             {"MASTER_ADDR", "node1"},
                                             {"MASTER_PORT", "29500"},
                                             {"TORCHELASTIC_RUN_ID", "none"}};

Environment::Values with(Environment::Values values, const Environment::Values& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

TEST(JobIdentity, OfAProcessWithoutARankIsItsOwn) {
  const Environment none(Environment::Values{});

  EXPECT_EQ(identity().key, text_of(getpid()));
  EXPECT_EQ(identity().launch, identity().key);
  EXPECT_EQ(identity().rendezvous, "");
  EXPECT_TRUE(identity().readable.ends_with("-" + std::to_string(getpid()))) << identity().readable;
}

TEST(JobIdentity, NamesTheProgramsAboveUpToAShell) {
  const Environment none(Environment::Values{});
  const std::string own = own_process_word();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string above = identity().ancestors;
    _exit(write(ends[1], above.data(), above.size()) == static_cast<ssize_t>(above.size()) ? 0 : 1);
  }
  close(ends[1]);
  char text[4096] = {};
  EXPECT_GT(read(ends[0], text, sizeof text - 1), 0);
  close(ends[0]);
  waitpid(child, nullptr, 0);

  EXPECT_TRUE((std::string(text) + " ").starts_with(own + " ")) << text;
  EXPECT_EQ(own, text_of(getpid()));
}

TEST(JobIdentity, OfAForkedChildIsThatOfItsParent) {
  const Environment none(Environment::Values{});
  const std::string own = identity().key;
  const pid_t child = fork();
  if (child == 0) _exit(identity().key == own ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(JobIdentity, OfARankIsItsLauncher) {
  const Environment one_node({{"RANK", "1"},
                              {"WORLD_SIZE", "8"},
                              {"LOCAL_RANK", "1"},
                              {"LOCAL_WORLD_SIZE", "8"},
                              {"MASTER_ADDR", "127.0.0.1"},
                              {"MASTER_PORT", "29500"}});
  std::ifstream comm("/proc/" + std::to_string(getppid()) + "/comm");
  std::string parent;
  comm >> parent;
  bool is_shell = false;
  for (const char* shell : {"bash", "sh", "dash", "zsh", "make", "xargs", "sudo", "su"}) is_shell |= parent == shell;

  EXPECT_EQ(identity().key, text_of(is_shell ? getpid() : getppid()));
  EXPECT_EQ(identity().rendezvous.empty(), !is_shell) << identity().rendezvous;
}

TEST(JobIdentity, HasARendezvousForSeveralHosts) {
  const Environment several(kRankOfTwoNodes);

  EXPECT_EQ(identity().rendezvous, "node1:29500/16  ");
  EXPECT_FALSE(identity().has_common_name);
}

TEST(JobIdentity, MeetsAtALoopbackAddressOnOneHostOnly) {
  const Environment loopback(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}});
  char host[256] = {};
  gethostname(host, sizeof host - 1);

  EXPECT_EQ(identity().rendezvous, "localhost:29500/2@" + std::string(host) + "  ");
}

TEST(JobIdentity, OfAStepOfSlurmIsEqualOnAllHosts) {
  const Environment step({{"SLURM_JOB_ID", "4711"},
                          {"SLURM_STEP_ID", "2"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_NTASKS", "2"},
                          {"SLURM_LOCALID", "0"}});

  EXPECT_EQ(identity().key, "slurm-4711.2");
  EXPECT_EQ(identity().readable, "slurm-4711.2");
  EXPECT_TRUE(identity().has_common_name);
}

TEST(JobIdentity, ARequeuedJobIsAnotherLaunch) {
  const Environment step({{"SLURM_JOB_ID", "4711"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_NTASKS", "2"},
                          {"SLURM_RESTART_COUNT", "1"}});

  EXPECT_EQ(identity().key, "slurm-4711.0-restart1");
}

TEST(JobIdentity, APythonScriptInABatchScriptHasTheNameOfTheJobOnly) {
  const Environment batch(Environment::Values{{"SLURM_JOB_ID", "4711"}});

  EXPECT_EQ(identity().key, text_of(getpid()));
  EXPECT_EQ(identity().readable, "slurm-4711");
}

TEST(JobIdentity, TorchrunInAStepOfSlurmMeetsByRendezvous) {
  const Environment step(with(kRankOfTwoNodes, {{"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}}));

  EXPECT_NE(identity().key, "slurm-4711.0") << "the step may start torchrun twice";
  EXPECT_EQ(identity().rendezvous, "node1:29500/16  slurm-4711.0");
  EXPECT_TRUE(identity().has_common_name);
}

TEST(JobIdentity, OfMpiIsItsNamespace) {
  const Environment::Values on_one_host = {{"OMPI_COMM_WORLD_RANK", "1"},
                                           {"OMPI_COMM_WORLD_SIZE", "2"},
                                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                           {"PMIX_NAMESPACE", "prterun-node1-77@1"}};
  {
    const Environment mpirun(on_one_host);
    EXPECT_EQ(identity().key, "pmix-prterun-node1-77@1");
    EXPECT_EQ(identity().rendezvous, "");
  }
  const Environment two_hosts(with(on_one_host, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}));
  EXPECT_EQ(identity().rendezvous, "pmix-prterun-node1-77@1") << "each host has another launcher, which makes the name";
  EXPECT_FALSE(identity().has_common_name);
}

TEST(JobIdentity, ElementsOfAJobArrayAreLaunches) {
  const Environment element({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "3"}});

  EXPECT_EQ(identity().readable, "lsf-12.3");
}

TEST(JobIdentity, ValuesAreOneLine) {
  const Environment several(with(kRankOfTwoNodes, {{"MASTER_ADDR", "a\nbase 1"}, {"SLURM_JOB_ID", "1\nx"}}));

  EXPECT_EQ(identity().rendezvous.find('\n'), std::string::npos);
  EXPECT_EQ(identity().key.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace profshim
