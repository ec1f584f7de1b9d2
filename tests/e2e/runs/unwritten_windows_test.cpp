// Windows that still wait to be written when the job ends: output.exit_seconds, output.write_all.
#include <gtest/gtest.h>

#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr std::size_t kWindows = 400;

/// A job that makes windows of 1000 calls faster than they can be written.
Job many_windows(const ScratchFolder& scratch, const std::string& output) {
  const Mpi mpi = installed_mpis().back();
  Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "400000"}};
  const std::string spec =
      "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n"
      "every = 1000\n[schedule]\nskip_first = 0\nwarmup = 0\nactive = 1\nrepeat = 0\n[limits]\ntotal_traces = 100000\n"
      "[output]\nfolder = \"" +
      (scratch / "traces") + "\"\n" + output;
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  return job;
}

std::string counts_of(const ScratchFolder& scratch) {
  return json_member(text_of_file(scratch / "traces/manifest-rank0.json"), "window_counts");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(UnwrittenWindows, AreLeftToRecoverAndReported) {
  const ScratchFolder scratch;

  const Both both = run_both(many_windows(scratch, "exit_seconds = 0\n"));

  expect_same(both);
  const std::size_t written = traces_below(scratch / "traces").size();
  ASSERT_LT(written, kWindows);
  const std::string left = std::to_string(kWindows - written);
  EXPECT_EQ(json_member(counts_of(scratch), "waiting"), left);
  EXPECT_TRUE(has(both.with.err, left + " of 400 windows were not written within output.exit_seconds: run  profshim "
                                        "recover"))
      << both.with.err;
  const std::string sentence =
      std::to_string(written) + " of 400 windows written; " + left + " not written before the job ended";
  for (const char* command : {"verify", "ls"}) {
    const Outcome outcome = profshim({command, scratch / "traces"});
    EXPECT_TRUE(has(outcome.out + outcome.err, sentence)) << command << outcome.out.substr(0, 2000);
  }

  EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");

  EXPECT_EQ(traces_below(scratch / "traces").size(), kWindows);
  EXPECT_EQ(json_member(counts_of(scratch), "waiting"), "0");
  EXPECT_FALSE(has(profshim({"verify", scratch / "traces"}).out, "not written before the job ended"));
}

TEST(UnwrittenWindows, AreAllWrittenWithWriteAll) {
  const ScratchFolder scratch;

  const Both both = run_both(many_windows(scratch, "exit_seconds = 0\nwrite_all = true\n"));

  expect_same(both);
  EXPECT_EQ(traces_below(scratch / "traces").size(), kWindows);
  EXPECT_EQ(json_member(counts_of(scratch), "waiting"), "0");
  EXPECT_FALSE(has(both.with.err, "not written")) << both.with.err;
}

// The wait is reported after two seconds: on this disk all windows take forty.
TEST(UnwrittenWindows, AreReportedWhileTheJobWaitsForThem) {
  const ScratchFolder scratch;
  Job job = many_windows(scratch, "exit_seconds = 3\n");
  job.environment.emplace_back("LD_PRELOAD", shim_path() + " " + built("tests/apps_ending/slow_disk.so"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_TRUE(has(outcome.err, "more windows wait to be written: none is begun 3 s after the end")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "were not written within output.exit_seconds")) << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
