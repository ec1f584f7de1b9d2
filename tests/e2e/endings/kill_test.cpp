// The environment variable PROFSHIM_KILLS sets the number of kills (default 20).
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "e2e/support/answers/written_summary.h"
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

int moments() {
  const char* text = getenv("PROFSHIM_KILLS");
  return text != nullptr ? std::max(1, atoi(text)) : 20;
}

struct Killed {
  Outcome outcome;
  std::int64_t at_ns = 0;
};

// The library writes the manifest before it records.
bool has_begun(const std::string& folder) {
  for (const std::string& file : files_below(folder))
    if (file.rfind("manifest-", 0) == 0) return true;
  return false;
}

bool removed_a_trace(const std::string& folder) {
  for (const std::string& file : files_below(folder)) {
    if (file.rfind("manifest-", 0) != 0) continue;
    if (!json_member(text_of_file(folder + "/" + file), "removed_traces").empty()) return true;
  }
  return false;
}

/// Waits for the condition first.
Killed kill_after(Job job, std::int64_t after_us, const std::function<bool()>& condition) {
  Killed killed;
  job.while_running = [&](int pid) {
    comes_true(condition);
    usleep(static_cast<useconds_t>(after_us));
    killed.at_ns = profshim::realtime_ns();
    kill(pid, SIGKILL);
  };
  killed.outcome = run(job);
  return killed;
}

std::int64_t last_end_ns(const SeenTrace& trace) {
  std::int64_t last = 0;
  for (const SeenEvent& event : trace.events)
    if (event.phase == "X" && event.name.rfind("MPI_", 0) == 0) last = std::max(last, event.ts_ns + event.duration_ns);
  const auto base = trace.metadata.find("baseTimeNanoseconds");
  return base == trace.metadata.end() ? 0 : last + std::stoll(base->second);
}

Job endless_job(const ScratchFolder& scratch, const std::string& spec, int pause_us = 0) {
  const std::vector<Mpi> mpis = installed_mpis();
  Job job{.command = {built("tests/apps_ending/" + to_string(mpis.back()) + "/ending"), "forever", "1",
                      std::to_string(pause_us)}};
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  return job;
}

RUNS_ALONE(Kill.RecoveryLosesAtMostTheLastSecond);
RUNS_ALONE(Kill.BeforeTheStepsAreFoundLeavesATrace);

// With short windows, a trace is always being written.
TEST(Kill, FilesWithAFinalNameAreCompleteAtAnyMoment) {
  std::mt19937 random(20261121);
  std::uniform_int_distribution<std::int64_t> delay_us(1000, 1500000);
  int with_files = 0;
  for (int moment = 0; moment < moments(); ++moment) {
    const ScratchFolder scratch;
    const Job job = endless_job(scratch,
                                "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\n"
                                "pattern = \"MPI_Allreduce\"\nevery = 50\n[schedule]\nskip_first = 0\nwarmup = 0\n"
                                "active = 3\nrepeat = 0\n[limits]\ntotal_traces = 100000\ndisk_free = 0\n[output]\n"
                                "folder = \"" +
                                    (scratch / "traces") + "\"\ngzip = " + (moment % 2 == 0 ? "false" : "true") + "\n");
    const std::int64_t after_us = delay_us(random);

    // Half of the jobs are killed while they write their second trace: a window lasts some milliseconds.
    const bool while_it_writes = moment % 4 < 2;
    const Killed killed = while_it_writes
                              ? kill_after(job, after_us / 5, [&] { return !traces_below(scratch / "traces").empty(); })
                              : kill_after(job, after_us, [] { return true; });

    EXPECT_EQ(killed.outcome.ending(), "signal 9");
    const auto traces = read_folder(scratch / "traces");
    with_files += !traces.empty();
    for (const SeenTrace& trace : traces)
      EXPECT_TRUE(trace.readable) << "killed after " << after_us << " us: " << trace.path << ": " << trace.error;
    for (const std::string& file : files_below(scratch / "traces")) {
      if (file.rfind("manifest-", 0) != 0) continue;
      EXPECT_NE(json_member(text_of_file((scratch / "traces") + "/" + file), "state"), "") << file << " is truncated";
    }
  }
  EXPECT_GT(with_files, moments() / 4) << "hardly any run got as far as writing: nothing was tested";
}

// Four ranks keep three traces each; each trace is 10 ms of the job.
TEST(Kill, TheNewestTracesThatRetentionKeepsAreThere) {
  std::mt19937 random(20261126);
  std::uniform_int_distribution<std::int64_t> delay_us(1000, 1000000);
  int with_removals = 0;
  for (int moment = 0; moment < std::max(1, moments() / 4); ++moment) {
    const ScratchFolder scratch;
    const std::string spec = scratch.write(
        "spec.toml",
        "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n"
        "every = 10\n[schedule]\nskip_first = 0\nwarmup = 0\nactive = 1\nrepeat = 0\n[limits]\ndisk_free = 0\n"
        "[output]\nfolder = \"" +
            (scratch / "traces") + "\"\nnum_traces_to_keep = 3\n");
    Job job = mpirun(Mpi::kOpenMpi, 4, {built("tests/apps_ending/openmpi/ending"), "forever", "1", "1003"});
    job.environment.emplace_back("PROFSHIM_SPEC", spec);
    const std::int64_t after_us = delay_us(random);
    job.while_running = [&](int pid) {
      const bool after_a_removal = moment % 2 == 0;
      const auto condition = after_a_removal ? removed_a_trace : has_begun;
      while (!condition(scratch / "traces") && kill(pid, 0) == 0) usleep(1000);
      usleep(static_cast<useconds_t>(after_us));
      run(shell("pkill -KILL -f 'ending forever 1 1003'"));
    };
    run(job);

    for (const SeenTrace& trace : read_folder(scratch / "traces")) EXPECT_TRUE(trace.readable) << trace.error;
    for (int rank = 0; rank < 4; ++rank) {
      const std::string manifest =
          text_of_file((scratch / "traces") + "/manifest-rank" + std::to_string(rank) + ".json");
      if (json_member(manifest, "removed_traces").empty()) continue;
      ++with_removals;
      int listed = 0;
      for (std::size_t at = 0; (at = manifest.find("\"file\": \"", at)) != std::string::npos; ++listed) {
        at += std::string("\"file\": \"").size();
        const std::string file = manifest.substr(at, manifest.find('"', at) - at);
        EXPECT_EQ(access(((scratch / "traces") + "/" + file).c_str(), F_OK), 0)
            << "killed after " << after_us << " us: rank " << rank << " lost " << file;
      }
      EXPECT_GE(listed, 3) << "killed after " << after_us << " us: rank " << rank;
    }
  }
  EXPECT_GT(with_removals, 0) << "no rank removed a trace: nothing was tested";
}

// A job without pauses would make a trace that takes too long to verify.
TEST(Kill, RecoveryLosesAtMostTheLastSecond) {
  constexpr int kPauseUs = 500;
  std::mt19937 random(4711);
  std::uniform_int_distribution<std::int64_t> delay_us(100000, 700000);
  for (int moment = 0; moment < std::max(1, moments() / 4); ++moment) {
    const ScratchFolder scratch;
    const std::int64_t after_us = delay_us(random);
    const Killed killed = kill_after(endless_job(scratch, record_all_spec(scratch / "traces"), kPauseUs), after_us,
                                     [&] { return has_begun(scratch / "traces"); });

    const Outcome recover = profshim({"recover", scratch / "traces"});

    ASSERT_EQ(recover.ending(), "exit 0") << "killed after " << after_us << " us: " << recover.out << recover.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << "killed after " << after_us << " us";
    ASSERT_TRUE(traces[0].readable) << traces[0].error;
    EXPECT_EQ(traces[0].property("complete"), "false");
    EXPECT_GT(traces[0].calls("MPI_Allreduce").size(), 100u);
    EXPECT_LE(killed.at_ns - last_end_ns(traces[0]), 1000000000) << "the last second is missing";
    EXPECT_EQ(profshim({"verify", traces[0].path}).ending(), "exit 0");
  }
}

// A loop of collectives counts once it has lasted for 2 s. This job is killed earlier.
TEST(Kill, BeforeTheStepsAreFoundLeavesATrace) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "traces";
  const std::string spec = "version = 1\n[ranks]\nselect = \"all\"\n[output]\nfolder = \"";
  kill_after(endless_job(scratch, spec + folder + "\"\n", 20'000), 700'000, [&] { return has_begun(folder); });

  const Outcome recover = profshim({"recover", folder});

  ASSERT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  const auto traces = read_folder(folder);
  ASSERT_EQ(traces.size(), 1u) << recover.out;
  EXPECT_EQ(traces[0].property("complete"), "false");
  EXPECT_GT(traces[0].calls("MPI_Allreduce").size(), 10u);
  EXPECT_NE(traces[0].property("problems").find("before its steps were found"), std::string::npos);
  EXPECT_EQ(profshim({"verify", traces[0].path}).ending(), "exit 0");
  const Outcome steps = profshim({"explain", "--steps", traces[0].path});
  EXPECT_NE(steps.out.find("MPI_Allreduce"), std::string::npos) << steps.out << steps.err;
  EXPECT_NE(profshim({"recover", folder}).out.find("nothing to recover"), std::string::npos);
}

// As in a cluster of Ray, where each group of processes has a run folder.
TEST(Kill, RecoverFindsTheRunsBelowAFolder) {
  const ScratchFolder scratch;
  const std::string run = scratch / "traces/group-1";
  kill_after(endless_job(scratch, record_all_spec(run)), 300'000, [&] { return records(run); });

  const Outcome recover = profshim({"recover", scratch / "traces"});

  EXPECT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  EXPECT_EQ(read_folder(run).size(), 1u) << recover.out;
  EXPECT_EQ(expect_written_summaries(run), 1);
  EXPECT_NE(profshim({"recover", scratch / "traces"}).out.find("/traces: nothing to recover"), std::string::npos);
}

}  // namespace
}  // namespace profshim::e2e
