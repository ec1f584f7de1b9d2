#include <gtest/gtest.h>

#include <string>

#include "unit/cli/tool.h"
#include "unit/not_under_tsan.h"

namespace profshim {
namespace {

using test::run_shell;

/// The tests preload the C library, which every program has anyway.
const std::string kLibrary = "PROFSHIM_LIBRARY=$(ldd /bin/sh | awk '/libc.so/ {print $3}') ";

TEST(Run, HasTheExitStatusOfTheCommand) {
  EXPECT_EQ(run_shell(kLibrary + "profshim run -- sh -c 'exit 7'").status, 7);
  EXPECT_EQ(run_shell(kLibrary + "profshim run -- true").status, 0);
  EXPECT_EQ(run_shell(kLibrary + "profshim run -- no-such-command").status, 127);
  EXPECT_EQ(run_shell(kLibrary + "profshim run -- /tmp").status, 126);
}

TEST(Run, DiesFromTheSignalOfTheCommand) {
  // With exec, run_shell() sees the signal that ends profshim, not a shell's exit status.
  EXPECT_EQ(run_shell(kLibrary + "exec profshim run -- sh -c 'kill -TERM $$'").status, 128 + 15);
  EXPECT_EQ(run_shell(kLibrary + "exec profshim run -- sh -c 'kill -KILL $$'").status, 128 + 9);
}

TEST(Run, ForwardsSignals) {
  NOT_UNDER_TSAN("it delivers no signal inside waitpid()");
  // $PPID is profshim.
  const auto run = run_shell(
      kLibrary +
      "profshim run -- sh -c 'trap \"echo told; exit 5\" TERM; kill -TERM $PPID; while :; do sleep 0.01; done'");
  EXPECT_EQ(run.status, 5);
  EXPECT_EQ(run.out, "told\n");
}

TEST(Run, SetsPreloadSpecAndOverrides) {
  const auto run =
      run_shell(kLibrary +
                "PROFSHIM_RANKS=1 LD_PRELOAD= PROFSHIM_SET='limits.total_traces=5 ranks.select=9' profshim run -s "
                "'" PROFSHIM_SOURCE_DIR
                "/config/examples/../examples/ci.toml' --folder '/a b' --set schedule.active=2 -- "
                "sh -c 'echo \"$LD_PRELOAD\"; echo \"$PROFSHIM_SPEC\"; echo \"$PROFSHIM_SET\"; echo "
                "\"$PROFSHIM_RANKS|$PROFSHIM_RUN_NAME\"'");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("libc.so"), std::string::npos);
  EXPECT_NE(run.out.find("/config/examples/"), std::string::npos);
  EXPECT_NE(run.out.find("ranks.select=\"1\" schedule.active=2 limits.total_traces=5 output.folder=\"/a b\"\n|\n"),
            std::string::npos)
      << run.out;
}

TEST(Run, KeepsWhatTheLibraryReadsInTheJob) {
  const auto run = run_shell(kLibrary +
                             "PROFSHIM_CUPTI=/x/libcupti.so PROFSHIM_NVTX_CHAIN=1 PROFSHIM_ACTIVE=1:2 profshim run -- "
                             "sh -c 'echo \"$PROFSHIM_CUPTI|$PROFSHIM_NVTX_CHAIN|$PROFSHIM_ACTIVE\"'");
  EXPECT_EQ(run.out, "/x/libcupti.so|1|\n") << run.err;
}

TEST(Run, ChoosesARunName) {
  const auto run = run_shell(kLibrary + "profshim run --ranks all -- sh -c 'echo $PROFSHIM_RUN_NAME'");
  EXPECT_EQ(run.out.substr(0, 5), "sh-20") << run.out;
}

TEST(Run, AnInvalidSpecPreventsTheCommand) {
  const auto run = run_shell(kLibrary + "profshim run --ranks '' -- echo started");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("--ranks: ranks.select:"), std::string::npos);
}

TEST(Run, RunsTheCommandUnchangedIfOff) {
  const auto run = run_shell("PROFSHIM_LIBRARY=/none PROFSHIM=0 profshim run -- sh -c 'echo \"[$LD_PRELOAD]\"'");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "[]\n");
}

TEST(Run, ReportsWhyItCannotRun) {
  EXPECT_EQ(run_shell("PROFSHIM_LIBRARY=/none profshim run -- true").status, 2);
  EXPECT_EQ(run_shell("profshim run true").status, 2);
  EXPECT_EQ(run_shell("profshim run --").status, 2);
}

}  // namespace
}  // namespace profshim
