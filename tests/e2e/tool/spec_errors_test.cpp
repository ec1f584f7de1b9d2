#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

Job one_rank() {
  return Job{.command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "exit", "20"}};
}

std::vector<std::string> bad_specs() {
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(PROFSHIM_SOURCE_DIR "/tests/golden/bad_specs", none))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The error may be in a file that `spec` includes.
std::string file_of_the_mistake(const std::string& spec) {
  const std::string expected = text_of_file(fs::path(spec).replace_extension(".expected").string());
  return expected.substr(0, expected.find(".toml")) + ".toml";
}

class BadSpec : public testing::TestWithParam<std::string> {};

TEST_P(BadSpec, LeavesTheJobAloneAndSaysWhy) {
  const ScratchFolder scratch;
  Job job = one_rank();
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", GetParam());

  const Outcome outcome = run(job);

  const bool aborts = text_of_file(GetParam()).find("on_error = \"abort\"") != std::string::npos;
  if (!aborts) {
    EXPECT_EQ(outcome.ending(), "exit 3") << outcome.err;
    EXPECT_EQ(outcome.out, "{\"rank\":0,\"function\":\"MPI_Allreduce\",\"count\":20}\n");
  }
  const auto lines = outcome.shim_lines();
  ASSERT_FALSE(lines.empty()) << outcome.err;
  EXPECT_LE(lines.size(), 4u) << outcome.err;
  EXPECT_NE(lines[0].find(file_of_the_mistake(GetParam())), std::string::npos) << lines[0];
  EXPECT_NE(lines.back().find("nothing is recorded"), std::string::npos) << lines.back();
  EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{});
}
INSTANTIATE_TEST_SUITE_P(Golden, BadSpec, testing::ValuesIn(bad_specs()), [](const auto& row) {
  std::string name = fs::path(row.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(SpecErrors, SixtyWrongSpecsExist) { EXPECT_GE(bad_specs().size(), 60u); }

TEST(SpecErrors, NamesFileLineKeyAndTheNearestKey) {
  const ScratchFolder scratch;
  Job job = one_rank();
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\n\n[schedule]\nactiv = 3\n"));

  const Outcome outcome = run(job);

  ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  const std::string line = outcome.shim_lines()[0];
  for (const char* part : {"s.toml:4", "schedule.activ", "active"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in: " << line;
}

TEST(SpecErrors, WrongVariableIsReportedTheSameWay) {
  const std::vector<std::pair<std::string, std::string>> variables[] = {
      {{"PROFSHIM_RANKS", "1-"}},     {{"PROFSHIM_SET", "schedule.active=many"}},
      {{"PROFSHIM_SET", "nonsense"}}, {{"PROFSHIM_STEPS", "5-2"}},
      {{"PROFSHIM_MEM", "much"}},     {{"PROFSHIM_ACTIVITIES", "gpus"}},
      {{"PROFSHIM", "maybe"}},        {{"PROFSHIM_FOLDER", "s3://bucket/x"}}};
  for (const auto& environment : variables) {
    const ScratchFolder scratch;
    Job job = one_rank();
    job.folder = scratch.path();
    job.environment = environment;

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 3") << outcome.err;
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << environment[0].first << ": " << outcome.err;
    EXPECT_NE(outcome.shim_lines()[0].find(environment[0].first), std::string::npos) << outcome.shim_lines()[0];
    EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{});
  }
}

TEST(SpecErrors, MissingFileIsReportedInOneLine) {
  const ScratchFolder scratch;
  Job job = one_rank();
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", scratch / "not_there.toml");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 3");
  ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  EXPECT_NE(outcome.shim_lines()[0].find("not_there.toml"), std::string::npos);
}

TEST(SpecErrors, OneRankReportsAndTheJobRunsOnUnderALauncher) {
  const std::vector<Mpi> mpis = installed_mpis();
  const auto job_of = [](Mpi mpi) {
    return mpirun(mpi, 2, {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "20"});
  };
  std::vector<Outcome> without;
  for (const Mpi mpi : mpis) {
    Job job = job_of(mpi);
    job.preload = false;
    without.push_back(run(job));
  }
  const std::vector<std::string> specs = bad_specs();
  for (std::size_t i = 0; i < specs.size(); i += 6) {
    const std::size_t which = i / 6 % mpis.size();
    const ScratchFolder scratch;
    Job job = job_of(mpis[which]);
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_SPEC", specs[i]);

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), without[which].ending()) << specs[i] << ": " << outcome.err;
    EXPECT_EQ(outcome.out.size(), without[which].out.size()) << specs[i];
    const auto lines = outcome.shim_lines();
    ASSERT_EQ(lines.size(), 1u) << specs[i] << ": " << outcome.err;
    EXPECT_NE(lines[0].find("rank 0: "), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find(file_of_the_mistake(specs[i])), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("nothing is recorded"), std::string::npos) << lines[0];
    EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{});
  }
}

TEST(SpecErrors, JobOfFourRanksReportsAtMostFourTimes) {
  const ScratchFolder scratch;
  const Mpi mpi = installed_mpis()[0];
  Job job = mpirun(mpi, 4, {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "20"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\nranks.selct = \"0\"\n"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_GE(outcome.shim_lines().size(), 1u);
  EXPECT_LE(outcome.shim_lines().size(), 4u) << outcome.err;
}

TEST(SpecErrors, OnErrorAbortStopsTheJobWithAClearLine) {
  const ScratchFolder scratch;
  Job job = one_rank();
  job.environment.emplace_back(
      "PROFSHIM_SPEC",
      scratch.write("s.toml", "version = 1\n[profile]\non_error = \"abort\"\n[schedule]\nactive = 0\n"));

  const Outcome outcome = run(job);

  EXPECT_NE(outcome.ending(), "exit 3");
  EXPECT_NE(outcome.ending(), "exit 0");
  EXPECT_EQ(outcome.out, "") << "the job went on";
  ASSERT_FALSE(outcome.shim_lines().empty()) << outcome.err;
  EXPECT_NE(outcome.shim_lines()[0].find("schedule.active"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
