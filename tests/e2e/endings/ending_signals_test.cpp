// The environment variable PROFSHIM_KILLS sets the number of random moments (default 20).
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/base/clock.h"

namespace profshim::e2e {
namespace {

constexpr int kCalls = 300;

std::string app(Mpi mpi, const std::string& name) { return built("tests/apps_ending/" + to_string(mpi) + "/" + name); }

Both run_in(const ScratchFolder& scratch, Job job, const std::string& more = "") {
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") + more));
  return run_both(std::move(job));
}

std::vector<SeenTrace> whole_traces(const ScratchFolder& scratch) {
  const std::vector<std::string> paths = traces_below(scratch / "traces");
  std::vector<std::string> verify = {"verify"};
  verify.insert(verify.end(), paths.begin(), paths.end());
  const Outcome verified = profshim(verify);
  EXPECT_EQ(verified.ending(), "exit 0") << verified.out << verified.err;
  for (const std::string& file : files_below(scratch / "traces")) {
    EXPECT_EQ(file.find(".spool"), std::string::npos);
    EXPECT_EQ(file.find(".claim"), std::string::npos);
  }
  return read_folder(scratch / "traces");
}

struct Signalled {
  int number;
  std::string how;
};
void PrintTo(const Signalled& row, std::ostream* out) { *out << "signal " << row.number << " " << row.how; }

std::vector<Signalled> rows() {
  std::vector<Signalled> all;
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ}) {
    for (const char* how :
         {"computes", "pauses", "sleeps", "polls", "itself", "thread", "ignored", "handler", "sigwait", "signalfd"}) {
      all.push_back({number, how});
    }
  }
  return all;
}

class ASignal : public testing::TestWithParam<Signalled> {};

TEST_P(ASignal, HasTheEffectThatItHasWithoutTheLibraryAndATraceIsWritten) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    const Job job{
        .command = {app(mpi, "signalled"), std::to_string(GetParam().number), GetParam().how, std::to_string(kCalls)},
        .environment = {kNoDaemon}};

    const Both both = run_in(scratch, job);

    EXPECT_EQ(both.with.ending(), both.without.ending()) << to_string(mpi) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    EXPECT_NE(both.with.ending(), "timed out");
    EXPECT_NE(both.with.ending(), "exit 1");
    const auto traces = whole_traces(scratch);
    ASSERT_EQ(traces.size(), 1u) << both.with.err;
    EXPECT_GE(traces[0].calls("MPI_Allreduce").size(), std::size_t{kCalls});
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, ASignal, testing::ValuesIn(rows()), [](const auto& row) {
  return "signal_" + std::to_string(row.param.number) + "_" + row.param.how;
});

RUNS_ALONE(EndingSignals.SentByTimeoutLeaveATraceOfEachRank);
RUNS_ALONE(EndingSignals.AtAnyMomentLeaveACompleteTraceExceptTheLastTenthOfASecond);

TEST(EndingSignals, HandlersAreInvisibleToTheProgram) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Both both = run_in(scratch, {.command = {app(mpi, "dispositions")}});

    expect_same(both);
    EXPECT_EQ(whole_traces(scratch).size(), 1u) << both.with.err;
  }
}

TEST(EndingSignals, AreNotHandledIfTheExitTimeIsZero) {
  const ScratchFolder scratch;
  const Job job{.command = {app(installed_mpis()[0], "signalled"), "15", "pauses", "10"}};

  const Both both = run_in(scratch, job, "exit_seconds = 0\n");

  EXPECT_EQ(both.with.ending(), both.without.ending());
  EXPECT_EQ(both.with.out, both.without.out);
  EXPECT_EQ(read_folder(scratch / "traces").size(), 0u);
  EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
  EXPECT_EQ(read_folder(scratch / "traces").size(), 1u);
}

// The kernel drops a signal to process 1 of a PID namespace if the signal has its default action.
TEST(EndingSignals, AreDroppedForProcessOneOfAContainer) {
  if (run(shell("unshare -pf --mount-proc /bin/true")).ending() != "exit 0") {
    GTEST_SKIP() << "no PID namespace can be made here";
  }
  const ScratchFolder scratch;
  const Job job{.command = {"unshare", "-pf", "--mount-proc", app(installed_mpis()[0], "signalled"), "15", "itself"}};

  const Both both = run_in(scratch, job);

  EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
  EXPECT_EQ(both.with.out, both.without.out);
  EXPECT_NE(both.with.out.find("went on"), std::string::npos);
  EXPECT_EQ(whole_traces(scratch).size(), 1u) << both.with.err;
}

// Ends a job of two ranks as `timeout` does when its time is over (its timer is SIGALRM), once both ranks have made 200
// calls.
Outcome timed_out(const ScratchFolder& scratch, Mpi mpi, bool preload) {
  const std::string out = scratch / (preload ? "with" : "without");
  Job job = mpirun(mpi, 2, {"/bin/sh", "-c", "exec \"$0\" forever 200 50000 >>\"$1\"", app(mpi, "ending"), out});
  job.command.insert(job.command.begin(), {"timeout", "-s", "TERM", "1000"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  job.preload = preload;
  job.while_running = [&](int pid) {
    EXPECT_TRUE(comes_true([&] {
      const std::string printed = text_of_file(out);
      return std::count(printed.begin(), printed.end(), '\n') == 2;
    }));
    kill(pid, SIGALRM);
  };
  return run(job);
}

// `timeout` signals the launcher, then their process group. Launchers soon kill the ranks (Open MPI 4 after a second).
TEST(EndingSignals, SentByTimeoutLeaveATraceOfEachRank) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Both both = {timed_out(scratch, mpi, false), timed_out(scratch, mpi, true)};

    EXPECT_EQ(both.without.ending(), "exit 124") << both.without.err;
    EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
    // After the second signal, Open MPI 4's launcher ends before its ranks, and Open MPI 5's kills its ranks.
    comes_true([&] { return read_folder(scratch / "traces").size() == 2; }, 10);
    // MPICH's sends SIGKILL to the ranks that are left when one has ended, even while they write, and may say nothing.
    const bool may_be_killed = mpi == Mpi::kMpich || both.with.err.find("hit ctrl-c again") != std::string::npos;
    if (may_be_killed) profshim({"recover", scratch / "traces"});
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 2u) << to_string(mpi) << " " << both.with.err;
    for (const SeenTrace& trace : traces) EXPECT_GE(trace.calls("MPI_Allreduce").size(), 200u);
  }
}

int moments() {
  const char* text = getenv("PROFSHIM_KILLS");
  return text != nullptr ? std::max(1, atoi(text)) : 20;
}

bool has_begun(const std::string& folder) {
  const auto files = files_below(folder);
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return file.rfind("manifest-", 0) == 0; });
}

std::int64_t last_end_ns(const SeenTrace& trace) {
  std::int64_t last = 0;
  for (const SeenEvent* call : trace.calls("MPI_Allreduce")) last = std::max(last, call->ts_ns + call->duration_ns);
  const auto base = trace.metadata.find("baseTimeNanoseconds");
  return base == trace.metadata.end() ? 0 : last + std::stoll(base->second);
}

TEST(EndingSignals, AtAnyMomentLeaveACompleteTraceExceptTheLastTenthOfASecond) {
  constexpr std::int64_t kTenth_ns = 100'000'000;
  std::mt19937 random(20261123);
  std::uniform_int_distribution<std::int64_t> delay_us(0, 400000);
  for (int moment = 0; moment < moments(); ++moment) {
    const ScratchFolder scratch;
    const std::int64_t after_us = delay_us(random);
    std::int64_t sent_ns = 0;
    Job job{.command = {app(installed_mpis().back(), "ending"), "forever", "1", "300"}};
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    job.while_running = [&](int pid) {
      comes_true([&] { return has_begun(scratch / "traces"); });
      usleep(static_cast<useconds_t>(after_us));
      sent_ns = realtime_ns();
      kill(pid, SIGTERM);
    };

    const Outcome outcome = run(job);

    ASSERT_EQ(outcome.ending(), "signal 15") << "SIGTERM after " << after_us << " us: " << outcome.err;
    const auto traces = whole_traces(scratch);
    // A signal before the first recorded call leaves no trace.
    if (traces.empty() && after_us < 20000) continue;
    ASSERT_EQ(traces.size(), 1u) << "SIGTERM after " << after_us << " us: " << outcome.err;
    EXPECT_LE(sent_ns - last_end_ns(traces[0]), kTenth_ns) << "SIGTERM after " << after_us << " us";
  }
}

TEST(EndingSignals, EndAPythonProgramAsUsual) {
  for (const char* number : {"SIGTERM", "SIGINT"}) {
    const ScratchFolder scratch;
    const Job job{.command = {"/usr/bin/python3", "-c",
                              std::string("from mpi4py import MPI\nimport os, signal, sys, time\n"
                                          "for i in range(200): MPI.COMM_WORLD.Barrier()\n"
                                          "print(signal.getsignal(signal.SIGTERM), flush=True)\n"
                                          "os.kill(os.getpid(), signal.") +
                                  number + ")\ntime.sleep(60)\n"}};

    const Both both = run_in(scratch, job);

    EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    const auto traces = whole_traces(scratch);
    ASSERT_EQ(traces.size(), 1u) << both.with.err;
    EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 200u);
  }
}

}  // namespace
}  // namespace profshim::e2e
