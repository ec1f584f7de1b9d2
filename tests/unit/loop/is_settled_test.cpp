#include <gtest/gtest.h>

#include "unit/loop/job.h"

namespace profshim::loop {
namespace {

TEST(IsSettled, WaitsForFiveRegularCyclesOfAnOptimizer) {
  Job job;
  std::string settled;
  for (int i = 0; i < 8; ++i) settled += job.train_batch().is_settled() ? 'x' : '.';

  EXPECT_EQ(settled, ".....xxx");
}

TEST(IsSettled, WaitsTwoSecondsWithoutAMarker) {
  Job job;
  for (int i = 0; i < 20; ++i) job.calls({"MPI_Isend to 1", "MPI_Irecv to 1", "MPI_Waitall"});

  EXPECT_FALSE(job.is_settled(1));
  EXPECT_TRUE(job.is_settled(3));
}

TEST(IsSettled, CountsNoTimeInWhichTheThreadWaitedForACpu) {
  const Job job = Job().seconds_of_batches(6);

  EXPECT_FALSE(job.is_settled(6, 5));
  EXPECT_TRUE(job.is_settled(6, 3));
}

// A job that starts slowly calls some operators again and again.
TEST(IsSettled, WaitsIfALoopOfOperatorsTakesLittleTime) {
  Job job;
  for (int i = 0; i < 30; ++i) job.calls({"empty", "uniform", "copy", "detach"});

  EXPECT_FALSE(job.is_settled(3));
  EXPECT_TRUE(Job().seconds_of_batches(3).is_settled());
}

// The minibatches of the first iteration look like steps until the next rollout.
TEST(IsSettled, WaitsForTheNextRollout) {
  Job job;
  const auto rollout = [&job] {
    for (int i = 0; i < 60; ++i) job.calls({"observe", "linear", "relu", "linear", "sample"});
  };
  rollout();
  for (int i = 0; i < 10; ++i) job.train_batch();
  EXPECT_FALSE(job.is_settled());

  for (int iteration = 0; iteration < 6; ++iteration) {
    rollout();
    for (int i = 0; i < 10; ++i) job.train_batch();
  }
  EXPECT_TRUE(job.is_settled());
  EXPECT_EQ(job.steps(), "opt x 10, 6 cycles");
}

}  // namespace
}  // namespace profshim::loop
