#include <gtest/gtest.h>

#include "loop/boundaries.h"
#include "profshim/loop.h"
#include "unit/loop/job.h"

namespace profshim::loop {
namespace {

TEST(FindLoop, ATrainingStepEndsWithItsOptimizer) {
  Job job;
  job.calls({"init", "init", "init", "init"});
  for (int i = 0; i < 12; ++i) job.train_batch();

  EXPECT_EQ(job.steps(), "opt x 1, 11 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kHigh);
}

// DistributedDataParallel rebuilds its buckets in the second iteration.
TEST(FindLoop, UnusualFirstStepsMakeALoopNoLessSure) {
  Job job;
  for (int i = 0; i < 9; ++i) {
    job.calls({"load", "linear", "relu", "loss", "backward", "grad"});
    if (i == 1) job.calls({"broadcast", "copy", "copy", "view", "view", "empty", "resize"});
    job.calls({"sub", "[zero_grad"});
  }
  EXPECT_EQ(job.steps(), "[zero_grad x 1, 8 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kHigh);
}

TEST(FindLoop, MicroBatchesAreNoSteps) {
  Job job;
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 4; ++k) job.calls({"load", "linear", "relu", "loss", "backward", "grad"});
    job.calls({"clip", "opt", "zero"});
  }
  EXPECT_EQ(job.steps(), "opt x 1, 7 cycles");
}

TEST(FindLoop, TwoOptimizersInTurnMakeOneStep) {
  Job job;
  for (int i = 0; i < 12; ++i) {
    job.calls({"noise", "generate", "detach", "judge", "judge", "loss", "backward", "grad", "opt"});
    job.calls({"zero", "judge", "fool", "backward", "grad", "grad", "transpose", "opt"});
  }
  EXPECT_EQ(job.steps(), "opt x 2, 11 cycles");
}

TEST(FindLoop, SeveralCriticStepsAndAGeneratorStepAreOneStep) {
  Job job;
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 5; ++k)
      job.calls({"noise", "generate", "detach", "judge", "sub", "backward", "grad", "opt", "clamp"});
    job.calls({"noise", "generate", "judge", "neg", "backward", "grad", "transpose", "opt"});
  }
  EXPECT_EQ(job.steps(), "opt x 6, 7 cycles");
}

TEST(FindLoop, ARolloutBelongsToTheOptimizersAfterIt) {
  Job job;
  for (int i = 0; i < 6; ++i) {
    for (int t = 0; t < 20; ++t) job.calls({"policy", "softmax", "multinomial", "environment"});
    job.call("permute");
    for (int k = 0; k < 8; ++k) job.calls({"index", "policy", "ratio", "clamp", "backward", "grad", "opt"});
  }
  EXPECT_EQ(job.steps(), "opt x 8, 5 cycles");
}

TEST(FindLoop, AnEvaluationAfterSomeStepsMakesNoStep) {
  Job job;
  for (int i = 1; i <= 40; ++i) {
    job.train_batch();
    for (int k = 0; k < 5 && i % 10 == 0; ++k) job.evaluation_batch();
  }
  EXPECT_EQ(job.steps(), "opt x 1, 39 cycles");
}

TEST(FindLoop, FrequentEvaluationsAndEpochsMakeNoSteps) {
  Job job;
  for (int i = 0; i < 20; ++i) {
    job.train_batch();
    if (i % 5 == 2) {
      for (int k = 0; k < 8; ++k) job.evaluation_batch();
      job.call("print");
    }
    if (i % 6 == 5) job.calls({"shuffle", "permute"});
  }
  EXPECT_EQ(job.steps(), "opt x 1, 19 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kLow);
}

TEST(FindLoop, AnEvaluationIsNoRolloutBecauseItsFirstStepHasTheSamePasses) {
  Job job;
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 4; ++k) job.calls({"load", "linear", "relu", "loss", "backward"});
    job.call("opt");
    if (i % 4 == 2) {
      for (int k = 0; k < 5; ++k) job.calls({"load", "linear", "relu", "loss"});
      job.call("print");
    }
  }
  EXPECT_EQ(job.steps(), "opt x 1, 19 cycles");
}

TEST(FindLoop, ALoopWithoutMarkersHasALowerConfidence) {
  Job job;
  for (int i = 0; i < 30; ++i) job.calls({"embedding", "lstm", "linear", "softmax", "multinomial"});

  EXPECT_EQ(job.steps(), "embedding x 1, 29 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kMedium);
}

TEST(FindLoop, BatchesAreCertainStepsOfNoLoop) {
  Job evaluates, trains;
  for (int i = 0; i < 12; ++i) {
    evaluates.calls({"enumerate(DataLoader)#next", "linear", "relu", "argmax"});
    trains.calls({"enumerate(DataLoader)#next", "linear", "relu", "ones_like",
                  "autograd::engine::evaluate_function: MmBackward0", "own_optimizer"});
  }
  EXPECT_EQ(evaluates.steps(), "enumerate(DataLoader)#next x 1, 11 cycles");
  EXPECT_EQ(evaluates.confidence(), Confidence::kMedium);
  EXPECT_EQ(trains.steps(), "linear x 1, 11 cycles") << "an evaluation loads batches, too";
}

TEST(FindLoop, ARangeOfTheJobNamesItsStep) {
  Job job;
  for (int i = 0; i < 10; ++i) job.calls({"MPI_Bcast", "[solve]", "MPI_Allreduce", "MPI_Allreduce", "MPI_Barrier"});

  EXPECT_EQ(job.steps(), "[solve] x 1, 9 cycles");
}

TEST(FindLoop, ExchangesWithTwoNeighborsAreOneIteration) {
  Job job;
  for (int i = 1; i <= 60; ++i) {
    job.calls({"MPI_Irecv to 0", "MPI_Isend to 2", "MPI_Waitall", "MPI_Irecv to 2", "MPI_Isend to 0", "MPI_Waitall"});
    if (i % 10 == 0) job.call("MPI_Allreduce", 5000);
  }
  EXPECT_EQ(job.steps(), "MPI_Irecv x 2, 59 cycles");
}

TEST(FindLoop, ARangeAroundOtherLoopsIsTheStep) {
  Job job;
  for (int i = 0; i < 3; ++i) {
    job.call("[train]", 500);
    for (int layer = 0; layer < 4; ++layer) job.calls({"gemm", "bias", "MPI_Allreduce"});
    for (int j = 0; j < 50; ++j) job.call("check", 1);
  }
  EXPECT_EQ(job.steps(), "[train] x 1, 2 cycles");
}

TEST(FindLoop, OutputEveryTenthIterationMakesNoStep) {
  Job job;
  job.calls({"MPI_Bcast", "MPI_Barrier"});
  for (int i = 1; i <= 60; ++i) {
    job.calls({"MPI_Sendrecv", "MPI_Reduce"});
    if (i % 10 == 0) job.call("MPI_Gather");
  }
  EXPECT_EQ(job.steps(), "MPI_Sendrecv x 1, 59 cycles");
}

TEST(FindLoop, ALoopThatHasEndedMakesNoSteps) {
  Job job;
  for (int i = 0; i < 50; ++i) job.calls({"read", "decode"});
  for (int i = 0; i < 12; ++i) job.train_batch();

  EXPECT_EQ(job.steps(), "opt x 1, 11 cycles");
}

TEST(FindLoop, CyclesThatAreAllUnlikeMakeNoLoop) {
  Job job;
  for (int i = 0; i < 60; ++i) {
    job.call("tick");
    for (int k = 0; k < 8; ++k) job.call("call " + std::to_string(100 * i + k));
  }
  EXPECT_EQ(job.steps(), "none");
}

TEST(FindLoop, AVaryingNumberOfMinibatchesIsNotCounted) {
  Job job;
  for (int i = 0; i < 9; ++i) {
    for (int t = 0; t < 20; ++t) job.calls({"policy", "softmax", "multinomial", "environment"});
    job.call("permute");
    for (int k = 0; k < 6 + i % 3; ++k) job.calls({"index", "policy", "ratio", "clamp", "backward", "grad", "opt"});
  }
  EXPECT_EQ(job.steps(), "permute x 1, 8 cycles");
}

TEST(FindLoop, CallsThatDoNotRecurMakeNoLoop) {
  Job job;
  EXPECT_EQ(job.steps(), "none");
  job.calls({"a", "b", "c", "d", "a", "c"});
  EXPECT_EQ(job.steps(), "none");
}

TEST(FindLoop, AMasterServesItsWorkersInAnyOrder) {
  Job job;
  const char* const workers[] = {"1", "2", "1", "1", "2", "1", "2", "2", "1", "2", "2", "1", "1", "2", "2", "2", "1"};
  for (const char* worker : workers)
    job.calls({std::string("MPI_Mprobe to ") + worker, std::string("MPI_Mrecv to ") + worker,
               std::string("MPI_Send to ") + worker});

  EXPECT_EQ(job.steps(), "MPI_Mprobe x 1, 16 cycles");
}

TEST(FindLoop, ATimeStepIteratesItsSolverUntilDone) {
  Job job;
  for (int step = 0; step < 9; ++step) {
    job.call("MPI_Bcast");
    for (int i = 0; i < 6 + step % 3; ++i) job.calls({"MPI_Sendrecv to 1", "MPI_Allreduce", "MPI_Allreduce"});
    job.call("MPI_Gather");
  }

  EXPECT_EQ(job.steps(), "MPI_Bcast x 1, 8 cycles");
}

TEST(FindLoop, LayersOfANetworkMakeNoSteps) {
  Job job;
  for (int token = 0; token < 12; ++token) {
    job.calls({"embedding", "positions"});
    for (int layer = 0; layer < 4; ++layer) job.calls({"norm", "attention", "linear", "gelu", "linear"});
    job.calls({"head", "softmax", "argmax", "cat"});
  }

  EXPECT_EQ(job.steps(), "embedding x 1, 11 cycles");
}

TEST(FindLoop, ALogLineEveryTenthStepMakesNoStep) {
  Job job;
  for (int i = 0; i < 60; ++i) {
    job.calls({"load", "linear", "relu", "linear", "loss", "backward", "sub", "sub", "zero"});
    if (i % 10 == 9) job.call("item");
  }

  EXPECT_EQ(job.steps(), "load x 1, 59 cycles");
}

TEST(FindLoop, EqualCallsInBurstsAreOneStep) {
  Job job;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 10; ++k) job.call("MPI_Allreduce");
    job.pause(5000);
  }

  EXPECT_EQ(job.steps(), "MPI_Allreduce x 10, 11 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kMedium);
}

TEST(FindLoop, ABusyMachineDoesNotHideBursts) {
  Job job;
  for (int i = 0; i < 200; ++i) {
    job.call("MPI_Allreduce", 20);
    if (i % 10 == 9) job.pause(2000);
    if (i % 30 == 13) job.pause(4000);
  }
  EXPECT_EQ(job.steps(), "MPI_Allreduce x 10, 19 cycles");
}

TEST(Boundaries, AnOptimizerThatOnlyTheFirstStepsHaveMakesNoSteps) {
  Job job;
  for (int i = 0; i < 40; ++i) {
    job.calls({"linear", "backward"});
    if (i < 18) job.calls({"opt A", "zero A"});
    job.calls({"opt B", "zero B"});
  }
  const Sequence& sequence = job.sequence();
  const Boundaries boundaries(sequence.symbols, sequence.calls);
  std::size_t found = 0;
  for (const Group& group : groups_of(sequence.symbols.size(), sequence.calls)) {
    const Cycles cycles = cycles_of(group, sequence.calls);
    if (cycles.size() != 39) continue;
    ++found;
    EXPECT_EQ(sequence.symbols[boundaries.boundary_of(cycles).symbol].name, "opt B");
  }
  EXPECT_EQ(found, 1u);
}

TEST(FindLoop, AnOptimizerMakesStepsOfAnyLength) {
  Job job;
  for (int episode = 0; episode < 6; ++episode) {
    for (int i = 0; i < 5 + 17 * episode; ++i) job.calls({"observe", "linear", "sample"});
    job.calls({"loss", "backward", "opt"});
  }

  EXPECT_EQ(job.steps(), "opt x 1, 5 cycles");
}

TEST(FindLoop, ACallWithoutAMarkerBetweenHasNoHighConfidence) {
  Job job;
  for (int i = 0; i < 40; ++i) job.call("MPI_Alltoall");

  EXPECT_EQ(job.steps(), "MPI_Alltoall x 1, 39 cycles");
  EXPECT_EQ(job.confidence(), Confidence::kMedium);
}

}  // namespace
}  // namespace profshim::loop
