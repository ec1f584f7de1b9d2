// Endings that leave little time: limits on CPU time, exits in signal handlers, many windows that wait to be written.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

std::string app(Mpi mpi, const std::string& name) { return built("tests/apps_ending/" + to_string(mpi) + "/" + name); }

Job recorded(const ScratchFolder& scratch, Job job) {
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  job.environment.push_back(kNoDaemon);
  return job;
}

Both run_in(const ScratchFolder& scratch, Job job) { return run_both(recorded(scratch, std::move(job))); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "_") + word;
  return text;
}

/// A trace for which no CPU time is left can be recovered, and a line says so. It also says so if the trace is written,
/// but not the manifest.
void expect_written_or_said(const Outcome& job, const std::string& traces) {
  const bool is_said =
      job.err.find("not everything could be written in time: run  profshim recover") != std::string::npos;
  EXPECT_TRUE(is_said || !traces_below(traces).empty()) << job.err;
}

using Arguments = std::vector<std::string>;

class CpuLimit : public testing::TestWithParam<Arguments> {};

// Arguments: soft and hard limit, threads, calls, how. The endings are those without the library, which uses up its
// CPU time in the tests below only.
TEST_P(CpuLimit, EndsTheJobAsWithoutTheLibrary) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{.command = {app(mpi, "cpu_limit")}};
    job.command.insert(job.command.end(), GetParam().begin(), GetParam().end());

    const Outcome with = run(recorded(scratch, job));

    EXPECT_EQ(with.ending(), GetParam().back() == "return" ? "exit 7" : "signal 24") << to_string(mpi) << with.err;
    EXPECT_EQ(with.out, "called\n");
    expect_written_or_said(with, scratch / "traces");
    EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << with.err;
    EXPECT_GE(traces[0].calls("MPI_Allreduce").size(), 2000u);
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, CpuLimit,
                         testing::Values(Arguments{"0", "1", "1", "2000"}, Arguments{"0", "1", "16", "2000"},
                                         Arguments{"0", "2", "1", "2000"}, Arguments{"1", "none", "2", "2000"},
                                         Arguments{"1", "1", "1", "1000000", "return"}),
                         [](const auto& row) { return joined(row.param); });

// A thread that holds the signal in the kernel must not end the process before the thread that waits for the trace.
TEST(CpuTime, ThatIsTooShortForTheTraceIsReported) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{.command = {app(mpi, "ending"), "forever", "100", "-1"}};
    job.before_exec = [] {
      const rlimit limit{1, 2};
      setrlimit(RLIMIT_CPU, &limit);
    };

    const Both both = run_in(scratch, job);

    EXPECT_EQ(both.without.ending(), "signal 24");
    EXPECT_EQ(both.with.ending(), "signal 24") << to_string(mpi) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    expect_written_or_said(both.with, scratch / "traces");
    EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
    EXPECT_EQ(traces_below(scratch / "traces").size(), 1u) << both.with.err;
  }
}

TEST(HardCpuLimit, EqualToTheSoftOneLeavesATraceToRecover) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Both both = run_in(scratch, {.command = {app(mpi, "cpu_limit"), "0", "0", "1", "2000"}});

    EXPECT_EQ(both.without.ending(), "signal 9");
    EXPECT_EQ(both.with.ending(), "signal 9") << to_string(mpi) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << both.with.err;
    EXPECT_GE(traces[0].calls("MPI_Allreduce").size(), 2000u);
  }
}

class AHandler : public testing::TestWithParam<Arguments> {};

TEST_P(AHandler, ThatEndsTheProcessLeavesATrace) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{.command = {app(mpi, "ends_in_handler")}};
    job.command.insert(job.command.end(), GetParam().begin(), GetParam().end());
    // Between two signals of a timer of CPU time, which the kernel sends at its ticks, the job makes thousands of
    // calls.
    job.command.emplace_back(GetParam()[0] == "prof" ? "4" : "15");
    const Outcome with = run(recorded(scratch, job));

    // At the end of main(), the status depends on the moment of the last signal.
    const std::string how = GetParam()[1];
    const std::string status = how == "_exit" ? "9" : how == "exit" ? "10" : how == "quick_exit" ? "11" : "9";
    const bool is_returned = how == "at_end" && with.ending() == "exit 12";
    EXPECT_EQ(with.ending(), is_returned ? "exit 12" : "exit " + status) << with.err;
    EXPECT_EQ(read_folder(scratch / "traces").size(), 1u) << to_string(mpi) << with.err;
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, AHandler,
                         testing::Values(Arguments{"prof", "_exit", "main"}, Arguments{"alrm", "_exit", "thread"},
                                         Arguments{"prof", "exit", "main"}, Arguments{"alrm", "exit", "thread"},
                                         Arguments{"prof", "quick_exit", "main"},
                                         Arguments{"alrm", "quick_exit", "thread"}, Arguments{"prof", "at_end", "main"},
                                         Arguments{"alrm", "at_end", "thread"}),
                         [](const auto& row) { return joined(row.param); });

TEST(CancelledThreads, LeaveTheJobAndItsTraceWhole) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Both both = run_in(scratch, {.command = {app(mpi, "cancelled"), "deferred", "100"}});

    EXPECT_EQ(both.with.ending(), "exit 3") << to_string(mpi) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    EXPECT_EQ(profshim({"verify", scratch / "traces"}).ending(), "exit 0");
  }
}

// The library delays the end of the process, during which another thread of the job cancels the ending one.
TEST(CancelledThreads, EndTheProcessIfTheyHaveBegunTo) {
  for (const Mpi mpi : installed_mpis()) {
    for (const char* how : {"exit", "_exit"}) {
      const ScratchFolder scratch;

      const Both both = run_in(scratch, {.command = {app(mpi, "cancelled"), how, "300000"}});

      EXPECT_EQ(both.with.ending(), "exit 4") << to_string(mpi) << how << both.with.err;
      EXPECT_EQ(both.with.out, both.without.out);
      EXPECT_EQ(traces_below(scratch / "traces").size(), 1u) << both.with.err;
    }
  }
}

}  // namespace
}  // namespace profshim::e2e
