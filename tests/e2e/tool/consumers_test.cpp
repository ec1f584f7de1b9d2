#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/consumers/readers.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kRanks = 4;

class Consumers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { NEEDS_NVTX(); }
  static void SetUpTestSuite() {
    NEEDS_NVTX();
    scratch_ = new ScratchFolder;
    for (const char* gzip : {"false", "true"}) {
      Job job = mpirun(Mpi::kOpenMpi, kRanks, {built("demo/heat"), "20", "64"});
      job.environment.emplace_back(
          "PROFSHIM_SPEC",
          scratch_->write(
              "spec.toml",
              "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"nvtx\"\npattern = \"iteration *\"\n"
              "[schedule]\nrepeat = 2\n[output]\nfolder = \"" +
                  folder(gzip) + "\"\ngzip = " + gzip + "\n"));
      job.folder = scratch_->path();
      EXPECT_EQ(run(job).ending(), "exit 0");
    }
  }
  static void TearDownTestSuite() { delete std::exchange(scratch_, nullptr); }

  static std::string folder(const std::string& gzip) { return *scratch_ / ("gzip-" + gzip); }

  static inline ScratchFolder* scratch_ = nullptr;
};

TEST_P(Consumers, HtaLoadsTheRanksOfAWindow) {
  const Outcome outcome =
      ask_reader("load_with_hta.py", {folder(GetParam()) + "/step11", std::to_string(kRanks), "--steps", "11,12,13"});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_P(Consumers, TensorBoardLoadsTheRanksOfAWindow) {
  const Outcome outcome =
      ask_reader("load_with_tb.py", {folder(GetParam()) + "/step15", std::to_string(kRanks), "--steps", "15,16,17"});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_P(Consumers, StrictJsonReaderAcceptsEveryFile) {
  const auto paths = traces_below(folder(GetParam()));
  ASSERT_EQ(paths.size(), 2u * kRanks);
  const Outcome outcome = ask_reader("strict_json.py", paths);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

// Readers take a merged trace for one rank that has the processes of all ranks.
TEST_P(Consumers, MergedTraceIsAccepted) {
  const std::string merged = *scratch_ / ("merged-" + std::string(GetParam()));
  std::filesystem::create_directory(merged);
  const std::string file = merged + "/all.11.pt.trace.json" + (std::string(GetParam()) == "true" ? ".gz" : "");
  ASSERT_EQ(profshim({"merge", folder(GetParam()) + "/step11", "-o", file}).ending(), "exit 0");
  const Outcome hta = ask_reader("load_with_hta.py", {merged, "1", "--steps", "11,12,13"});
  EXPECT_EQ(hta.ending(), "exit 0") << hta.out << hta.err;
  const Outcome plugin = ask_reader("load_with_tb.py", {merged, "1", "--steps", "11,11,11,11,12,12,12,12,13,13,13,13"});
  EXPECT_EQ(plugin.ending(), "exit 0") << plugin.out << plugin.err;
}

INSTANTIATE_TEST_SUITE_P(Gzip, Consumers, testing::Values("false", "true"),
                         [](const auto& row) { return std::string(row.param); });

class GpuConsumers : public testing::Test {
 protected:
  void SetUp() override {
    Job job{.command = {PROFSHIM_BUILD_DIR "/tests/apps_trace/gpu_ranks", scratch_.path()}, .preload = false};
    ASSERT_EQ(run(job).ending(), "exit 0");
  }
  ScratchFolder scratch_;
};

TEST_F(GpuConsumers, HtaReportsTheNumbersOfTheDevices) {
  const Outcome outcome = ask_reader("gpu_numbers_with_hta.py", {scratch_.path()});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_F(GpuConsumers, MergedTracesConform) {
  const std::string merged = scratch_.path() + "/merged.0.pt.trace.json";
  std::vector<std::string> merge = {"merge", "-o", merged};
  for (const std::string& path : traces_below(scratch_.path())) merge.push_back(path);
  const Outcome apart = profshim({"summary", "--kernels", "--steps", scratch_.path()});
  ASSERT_EQ(profshim(merge).ending(), "exit 0");
  const Outcome outcome = profshim({"verify", merged});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out;
  // `summary` restores the device numbers that merge made unique.
  EXPECT_EQ(profshim({"summary", "--kernels", "--steps", merged}).out, apart.out);
  EXPECT_NE(apart.out, "");
}

TEST_F(GpuConsumers, TensorBoardLoadsTheTraces) {
  const Outcome outcome = ask_reader("load_with_tb.py", {scratch_.path(), std::to_string(kRanks), "--steps", "0,1,2"});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_F(GpuConsumers, TracesPassVerify) {
  Job job{.command = {tool_path(), "verify", scratch_.path()}, .preload = false};
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
