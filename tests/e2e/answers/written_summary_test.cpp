// [summary] and the export of key_averages: answers that the library writes beside a trace.
#include "e2e/support/answers/written_summary.h"

#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kWithTable = "[summary]\ntable = [\"auto\"]\n";

Job with_spec(Job job, const ScratchFolder& scratch, const std::string& more) {
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") + more));
  return job;
}

class WrittenSummary : public testing::TestWithParam<std::string> {};

TEST_P(WrittenSummary, OfAnMpiJobEqualsThatOfItsTrace) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    const Outcome outcome =
        run(with_spec(mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/" + GetParam())}), scratch, kWithTable));
    ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_EQ(expect_written_summaries(scratch / "traces"), 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, WrittenSummary,
                         testing::Values("allreduce_loop", "ring_isend", "every_call", "many_operations", "polling",
                                         "persistent", "threads_multiple"));

// All other tests with simulated GPUs compare the summaries, too: see run_gpu().
TEST(WrittenSummaryOfGpus, HasKernelsCollectivesAndSteps) {
  const GpuRun run = run_gpu({.program = "ddp", .arguments = {"6"}, .spec = std::string(kRecordAll) + kWithTable});

  EXPECT_EQ(run.outcome.ending(), "exit 0");
  EXPECT_NE(run.outcome.err.find("by self_device_time_total"), std::string::npos) << run.outcome.err;
  EXPECT_NE(run.outcome.err.find("Self CUDA time total: "), std::string::npos) << run.outcome.err;
}

TEST(WrittenSummaryOfTorch, OfDdpEqualsThatOfItsTraces) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Outcome outcome =
      run(torch_job(scratch, Launch::kTwoRanks, "train_ddp.py", "summary.table=self_cpu_time_total"));

  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(expect_written_summaries(scratch / "traces"), 2);
  const std::size_t table = outcome.err.find("steps 11-13 by self_cpu_time_total: step11/rank0.11.pt.trace.json\n");
  ASSERT_NE(table, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("by self_cpu_time_total", table + 40), std::string::npos) << "one rank prints it";
  const std::string printed =
      profshim({"summary", scratch / "traces/step11/rank0.11.pt.trace.json", "--sort-by", "self_cpu_time_total"}).out;
  const std::string rows = printed.substr(0, printed.find("Device busy"));
  EXPECT_NE(outcome.err.find(rows), std::string::npos) << outcome.err << rows;
}

TEST(WrittenSummaryOfTorch, OfRpcEqualsThatOfItsTraces) {
  NEEDS_RPC();
  const ScratchFolder scratch;
  const Outcome outcome =
      run(torch_job(scratch, Launch::kTwoRanks, "rpc/rpc_calls.py", "steps.source=none summary.table=auto"));
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(expect_written_summaries(scratch / "traces"), 2);
}

TEST(WrittenSummaryOfTorch, KeyAveragesAreThoseOfProfshimSummary) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Outcome outcome =
      run(torch_job(scratch, Launch::kAlone, "infer.py", "output.export=chrome_trace,key_averages steps.source=none"));
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

  const std::string start = scratch / "traces/step0/rank0.0";
  const Outcome table = profshim({"summary", start + ".pt.trace.json", "--row-limit", "-1"}),
                csv = profshim({"summary", start + ".pt.trace.json", "--csv"});

  const std::string text = text_of_file(start + ".key_averages.txt");
  EXPECT_GT(text.size(), 1000u);
  EXPECT_TRUE(table.out.starts_with(text)) << table.out << text;
  EXPECT_EQ(text_of_file(start + ".key_averages.csv"), csv.out);
  EXPECT_NE(text_of_file(scratch / "traces/manifest-rank0.json").find("\"step0/rank0.0.key_averages.csv\""),
            std::string::npos);
}

class WrittenSummaryFile : public testing::Test {
 protected:
  /// Runs one rank for `steps` steps; returns the text of the summary.
  std::string summary_of(const std::string& steps, const std::string& spec) {
    const std::string mpi = to_string(installed_mpis()[0]);
    Job job = mpirun(installed_mpis()[0], 1, {built("tests/apps/" + mpi + "/allreduce_loop"), steps});
    job.environment.emplace_back("PROFSHIM_SPEC", scratch_.write("spec.toml", spec));
    const Outcome outcome = run(job);
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    traces_ = traces_below(folder());
    EXPECT_FALSE(traces_.empty()) << outcome.err;
    return text_of_file(folder() + "/summary-rank0.json");
  }
  std::string folder() const { return scratch_ / "traces"; }

  const ScratchFolder scratch_;
  std::vector<std::string> traces_;
};

TEST_F(WrittenSummaryFile, HoldsEachWindowAndOutlivesRemovedTraces) {
  const std::string text = summary_of(
      "60",
      "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n"
      "[schedule]\nwait = 3\nwarmup = 1\nactive = 2\nrepeat = 4\n[output]\nnum_traces_to_keep = 2\nfolder = \"" +
          folder() + "\"\n");

  EXPECT_EQ(traces_.size(), 2u);
  EXPECT_TRUE(text.starts_with("{\"format\":1,\"rank\":0,\"older_windows_left_out\":0,\"windows\":[\n{\"file\":\"step"))
      << text;
  EXPECT_TRUE(text.ends_with("\n]}\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

TEST_F(WrittenSummaryFile, IsOnlyWrittenIfAskedFor) {
  EXPECT_EQ(
      summary_of("10", record_all_spec(folder()) + "[summary]\nkernels = false\nsteps = false\ncollectives = false\n"),
      "");
}

TEST_F(WrittenSummaryFile, NamesTheCommandIfMemoryDoesNotSuffice) {
  const std::string text = summary_of("40000", record_all_spec(folder()) + "[limits]\nhost_memory = \"64 MiB\"\n");

  EXPECT_NE(text.find("\"left_out\":\"its events need more memory than limits.host_memory leaves for it; run: profshim "
                      "summary FILE\""),
            std::string::npos)
      << text.substr(0, 500);
}

}  // namespace
}  // namespace profshim::e2e
