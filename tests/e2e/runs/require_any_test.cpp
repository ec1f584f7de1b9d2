// process.require_any: the library whose use begins the recording.
#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kSentence = "which process.require_any does not name";

std::string spec_requiring(const std::string& libraries, const std::string& folder) {
  return "version = 1\n[ranks]\nselect = \"all\"\n[process]\nrequire_any = [" + libraries +
         "]\n[steps]\nsource = \"none\"\n[output]\nfolder = \"" + folder + "\"\n";
}

/// Two ranks of MPI with the fake CUDA driver.
struct Ranks {
  Outcome outcome;
  std::vector<SeenTrace> traces;
};
Ranks run_ranks(Mpi mpi, const std::string& libraries, bool use_cuda) {
  const ScratchFolder scratch;
  std::vector<std::string> command = {built("tests/apps/" + to_string(mpi) + "/mpi_then_cuda")};
  if (!use_cuda) command.emplace_back("without");
  Job job = mpirun(mpi, 2, command);
  const std::string fakes = built("tests/fakes/cuda13/libcuda.so.1");
  job.environment.emplace_back("LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/')));
  job.environment.emplace_back("PROFSHIM_SPEC",
                               scratch.write("spec.toml", spec_requiring(libraries, scratch / "traces")));
  Ranks ranks;
  ranks.outcome = run(job);
  EXPECT_EQ(ranks.outcome.ending(), "exit 0") << ranks.outcome.err;
  ranks.traces = read_folder(scratch / "traces");
  return ranks;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class RequireAny : public testing::TestWithParam<Mpi> {};
INSTANTIATE_TEST_SUITE_P(EachMpi, RequireAny, testing::ValuesIn(installed_mpis()),
                         [](const auto& mpi) { return to_string(mpi.param); });

TEST_P(RequireAny, AProcessThatUsesNothingRequiredDoesNotRecord) {
  const Ranks ranks = run_ranks(GetParam(), "\"cuda\", \"nccl\"", false);

  EXPECT_TRUE(ranks.traces.empty());
  EXPECT_EQ(count_of(ranks.outcome.err, kSentence), 1u) << ranks.outcome.err;
  EXPECT_NE(ranks.outcome.err.find("this process used MPI, "), std::string::npos) << ranks.outcome.err;
}

TEST_P(RequireAny, ALaterUseBeginsTheRecordingWithTheRankOfMpi) {
  const Ranks ranks = run_ranks(GetParam(), "\"cuda\"", true);

  ASSERT_EQ(ranks.traces.size(), 2u) << ranks.outcome.err;
  for (std::size_t i = 0; i < 2; ++i) {
    const SeenTrace& trace = ranks.traces[i];
    EXPECT_EQ(trace.rank(), static_cast<int>(i));
    const std::vector<const SeenEvent*> calls = trace.calls("MPI_Allreduce");
    ASSERT_EQ(calls.size(), 10u);
    EXPECT_EQ(calls.back()->args.at("comm"), "MPI_COMM_WORLD");
    EXPECT_NE(trace.property("problems").find("began after MPI_Init"), std::string::npos);
    EXPECT_EQ(trace.property("rank_source"), "mpi");
  }
  EXPECT_EQ(count_of(ranks.outcome.err, kSentence), 0u) << ranks.outcome.err;
}

TEST_P(RequireAny, MpiBeginsTheRecordingInMpiInit) {
  const Ranks ranks = run_ranks(GetParam(), "\"mpi\"", true);

  ASSERT_EQ(ranks.traces.size(), 2u) << ranks.outcome.err;
  EXPECT_EQ(ranks.traces[0].calls("MPI_Allreduce").size(), 15u);
  EXPECT_EQ(ranks.traces[0].property("problems"), "[]");
}

TEST(RequireAnyOfPyTorch, OperatorsBeginTheRecordingOnlyIfNamed) {
  NEEDS_TORCH(1);
  for (const auto& [libraries, traces] : {std::pair{"cuda,nccl,mpi", 0u}, std::pair{"torch", 1u}}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "infer.py",
                                          std::string("steps.source=none process.require_any=") + libraries));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_EQ(read_folder(scratch / "traces").size(), traces) << libraries << ": " << outcome.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
