// Losses and refusals are said: in one line, by one rank for the job, where somebody reads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"

namespace profshim::e2e {
namespace {

Job heat(const ScratchFolder& scratch, int ranks, int steps, const std::string& settings) {
  Job job = mpirun(installed_mpis().front(), ranks, {built("demo/heat"), std::to_string(steps), "64"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_SET", "output.gzip=false " + settings);
  return job;
}

Job epochs(const ScratchFolder& scratch, const std::vector<std::string>& arguments, const std::string& spec) {
  std::vector<std::string> command = {built("tests/apps_nvtx/nvtx_epochs")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Job job = mpirun(Mpi::kOpenMpi, 1, command);
  job.folder = scratch.path();
  job.environment.emplace_back(
      "PROFSHIM_SPEC",
      scratch.write("s.toml", "version = 1\n" + spec + "[output]\nfolder = \"traces\"\ngzip = false\n"));
  return job;
}

/// A program that is recorded from its begin to its end.
Job whole_run(const ScratchFolder& scratch, Mpi mpi, int ranks, const std::vector<std::string>& command) {
  Job job = mpirun(mpi, ranks, command);
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");
  return job;
}

std::size_t lines_with(const Outcome& outcome, const std::string& text) {
  const auto lines = outcome.shim_lines();
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

/// No mark of who has spoken is left in the run folder.
void expect_no_marks(const ScratchFolder& scratch) {
  for (const std::string& file : files_below(scratch / "traces")) {
    EXPECT_EQ(file.find(".said-"), std::string::npos) << file;
  }
}

TEST(Said, WindowsThatALimitClosedAreOneLineOfTheJob) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat(scratch, 3, 2000, "steps.source=none limits.trace_size=64KiB"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, "1 of 1 windows closed early"), 1u) << outcome.err;
  EXPECT_EQ(outcome.shim_lines().size(), 2u) << outcome.err;
  expect_no_marks(scratch);
}

TEST(Said, ADiskThatIsTooFullOpensNoWindow) {
  for (const char* source : {"steps.source=none", "steps.source=collective steps.pattern=MPI_Allreduce"}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(heat(scratch, 2, 30, std::string(source) + " limits.disk_free=100000TiB"));

    EXPECT_EQ(outcome.ending(), "exit 0");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "no window is opened: only "), 1u) << outcome.err;
    EXPECT_TRUE(traces_below(scratch / "traces").empty());
    EXPECT_EQ(text_of_file(scratch / "traces/manifest-rank0.json").find("\"status\""), std::string::npos);
    expect_no_marks(scratch);
  }
}

TEST(Said, AFolderThatCannotBeMadeIsOneLineOfAHost) {
  const ScratchFolder scratch;
  scratch.write("traces", "a file");

  for (const char* ranks : {"all", "1,3"}) {
    Job job = heat(scratch, 4, 5, "");
    job.environment.emplace_back("PROFSHIM_RANKS", ranks);

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "nothing is recorded: "), 1u) << outcome.err;
  }
}

TEST(Said, TheLastOfAllTracesIsSaid) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat(scratch, 2, 30,
                                   "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=0 "
                                   "schedule.warmup=0 schedule.active=2 schedule.repeat=0 limits.total_traces=3"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(traces_below(scratch / "traces").size(), 6u);
  EXPECT_EQ(lines_with(outcome, "limits.total_traces = 3 was reached"), 1u) << outcome.err;
}

TEST(Said, AWindowWithoutACompleteStep) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat(scratch, 2, 20,
                                   "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=19 "
                                   "schedule.warmup=0 schedule.active=1"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, "1 of 1 windows hold no complete step"), 1u) << outcome.err;
}

TEST(Said, NamesThatFoundNoRoom) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = epochs(scratch, {"0", "1", "150000"}, "[steps]\nsource = \"none\"\n[limits]\nhost_memory = \"32MiB\"\n");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " names are missing in the traces"), 1u) << outcome.err;
}

TEST(Said, RangesThatWereOpenAtOnce) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(whole_run(scratch, Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_deep"), "100"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, ": 39 calls and ranges were not recorded: too many were open at once"), 1u)
      << outcome.err;
  EXPECT_EQ(outcome.shim_lines().size(), 2u) << outcome.err;
}

TEST(Said, CommunicatorsThatFoundNoRoom) {
  const Mpi mpi = installed_mpis().front();
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_limits/" + to_string(mpi) + "/many_communicators");

  const Outcome outcome = run(whole_run(scratch, mpi, 1, {program, "70000"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " communicators, types, streams or notes are not described in the traces"), 1u)
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 70000u);
}

TEST(Said, OperationsThatFoundNoRoom) {
  const Mpi mpi = installed_mpis().front();
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_limits/" + to_string(mpi) + "/many_requests");

  const Outcome outcome = run(whole_run(scratch, mpi, 2, {program, "70000"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " operations were not recorded from begin to end"), 1u) << outcome.err;
}

TEST(Said, AnEarlierProcessOfTheRunIsNotCounted) {
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_memory/" + to_string(installed_mpis().front()) + "/memory_use");
  // The limit is noticed some milliseconds after it was reached.
  Job job = shell(program + " 3000000; " + program + " 3000000");
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none limits.trace_size=1MiB");
  job.environment.emplace_back("LSB_JOBID", "4711");  // one job

  const Outcome outcome = run(job);

  EXPECT_EQ(lines_with(outcome, "1 of 1 windows closed early"), 2u) << outcome.err;
}

// ---- no window was reached
// -------------------------------------------------------------------------------------------

TEST(Said, ACommandThatWouldHaveRecorded) {
  for (const int steps : {2, 3, 5, 8}) {
    const ScratchFolder scratch;
    const std::string source = "steps.source=collective steps.pattern=MPI_Allreduce";
    const Outcome outcome = run(heat(scratch, 1, steps, source));
    std::smatch command;
    const std::string err = outcome.err;
    ASSERT_TRUE(std::regex_search(err, command, std::regex("PROFSHIM_STEPS=([0-9-]+)\n"))) << err;

    Job again = heat(scratch, 1, steps, source + " output.overwrite=true");
    again.environment.emplace_back("PROFSHIM_STEPS", command[1]);
    const Outcome recorded = run(again);

    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << command[1] << recorded.err;
    EXPECT_EQ(traces[0].fact("complete"), "true") << command[1];
  }
}

TEST(Said, OneStepIsTooFew) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat(scratch, 1, 1, "steps.source=collective steps.pattern=MPI_Allreduce"));

  EXPECT_EQ(lines_with(outcome, "1 step seen, first window at step 11; at least 2 steps are needed"), 1u)
      << outcome.err;
}

TEST(Said, AResumedJobHearsItsOwnNumbers) {
  NEEDS_NVTX();
  struct Case {
    const char *spec, *line;
  };
  const std::string nvtx = "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\n";
  for (const Case& c : {Case{"numbering = \"absolute\"\n[schedule]\nsteps = [\"1100-1102\"]\n",
                             "8 steps seen from step 1003 on, first window at step 1100; this would have recorded:  "
                             "PROFSHIM_STEPS=1005-1007"},
                        Case{"numbering = \"absolute\"\n[schedule]\nskip_first = 9\nwarmup = 0\n",
                             "the schedule's last window lies before them; this would have recorded:  "
                             "PROFSHIM_STEPS=1005-1007"},
                        Case{"",
                             "8 steps seen from step 1003 on, first window at step 1014; this would have "
                             "recorded:  PROFSHIM_STEPS=2-4"}}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(epochs(scratch, {"0", "1", "8", "1003"}, nvtx + c.spec));

    EXPECT_EQ(lines_with(outcome, c.line), 1u) << outcome.err;
  }
}

// ---- a process that never showed a rank
// ------------------------------------------------------------------------------

TEST(Said, AJobThatNeverStartedMpi) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps_limits/" + to_string(mpi) + "/never_starts")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM", "1");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.out, "done\ndone\n");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "is loaded, but this process showed neither a rank nor a step"), 1u) << outcome.err;
    EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{});
  }
}

TEST(Said, NothingOfALauncherAndOfAJobThatIsNotToBeRecorded) {
  const std::string program = built("tests/apps_limits/" + to_string(installed_mpis().front()) + "/never_starts");
  Job launcher{.command = {program, "child"}};
  launcher.environment.emplace_back("PROFSHIM", "1");
  Job off{.command = {program}};
  off.environment.emplace_back("PROFSHIM_SET", "profile.enable=false");

  EXPECT_EQ(run(launcher).err, "");
  EXPECT_EQ(run(off).err, "");
}

// ---- where stderr was replaced
// ---------------------------------------------------------------------------------------

struct Replaced {
  const char *how, *name, *when;
  bool is_log;
};
class ReplacedStderr : public testing::TestWithParam<Replaced> {};

TEST_P(ReplacedStderr, GetsTheLinesWhereItIsALog) {
  const Replaced& c = GetParam();
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    std::vector<std::string> command = {built("tests/apps_limits/" + to_string(mpi) + "/replace_stderr"), c.how,
                                        scratch / c.name};
    if (*c.when != '\0') command.emplace_back(c.when);
    Job job = mpirun(mpi, 1, command);
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
    job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
    const std::string target = text_of_file(scratch / c.name);
    const std::string own = text_of_file(scratch / "traces/profshim-rank0.log");
    const std::string& lines = c.is_log ? target : own;
    EXPECT_NE(lines.find("profshim: rank 0: 1 trace in "), std::string::npos) << target << own;
    if (c.is_log) {
      EXPECT_EQ(target.rfind("data\n", 0), 0u) << target;
      EXPECT_EQ(own, "");
    } else {
      EXPECT_EQ(target, "data\n");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Files, ReplacedStderr,
    testing::Values(Replaced{"dup", "worker-abc.err", "", true}, Replaced{"dup", "worker-abc.err", "before", true},
                    Replaced{"dup", "daemon.log", "before", true}, Replaced{"open", "results.dat", "", false},
                    Replaced{"open", "results.dat", "before", false}, Replaced{"dup", "results.out", "", false}),
    [](const auto& row) { return "case_" + std::to_string(row.index); });

TEST(ReplacedStderr, BecomesNull) {
  const ScratchFolder scratch;
  const Mpi mpi = installed_mpis().front();
  Job job = mpirun(mpi, 1, {built("tests/apps_limits/" + to_string(mpi) + "/replace_stderr"), "dup", "/dev/null"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

  EXPECT_EQ(run(job).ending(), "exit 0");

  const std::string lines = text_of_file(scratch / "traces/profshim-rank0.log");
  EXPECT_NE(lines.find("profshim: rank 0: 1 trace in "), std::string::npos) << lines;
}

// ---- names and ranges
// ------------------------------------------------------------------------------------------------

TEST(Said, TheEpochOfAWindowIsInItsName) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = epochs(scratch, {"5", "3", "4", "0"},
                   "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\nepoch = \"epoch *\"\n[schedule]\n"
                   "per = \"epoch\"\nskip_first = 1\nwarmup = 0\nactive = 2\nrepeat = 1\n");
  job.environment.emplace_back("PROFSHIM_SET", "output.filename=e{epoch}.{step}.pt.trace.json");

  const Outcome outcome = run(job);

  std::vector<std::string> names;
  for (const std::string& path : traces_below(scratch / "traces")) names.push_back(path.substr(path.rfind('/') + 1));
  EXPECT_EQ(names, (std::vector<std::string>{"e5-rank0.1.pt.trace.json", "e6-rank0.5.pt.trace.json",
                                             "e7-rank0.9.pt.trace.json"}))
      << outcome.err;
}

TEST(Said, StepsAndEpochsKeepTheirRangesWithoutTheActivityNvtx) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  const Outcome outcome =
      run(epochs(scratch, {"0", "3", "4"},
                 "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\nepoch = \"epoch *\"\n[schedule]\nskip_first = 2\n"
                 "warmup = 1\nactive = 5\n[capture]\nactivities = [\"mpi\"]\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{3, 4, 5, 6, 7}));
  for (const char* step : {"step 3", "step 4", "step 7"}) EXPECT_EQ(traces[0].calls(step).size(), 1u) << step;
  EXPECT_EQ(traces[0].calls("epoch 1").size(), 1u);
  EXPECT_EQ(traces[0].calls("inside").size(), 0u);
}

TEST(Said, ReadersFindTracesByTheManifest) {
  const ScratchFolder scratch;
  Job job = heat(scratch, 2, 20,
                 "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=2 schedule.active=3 "
                 "schedule.repeat=2 output.filename=trace.json");
  ASSERT_EQ(run(job).ending(), "exit 0");
  const std::string folder = scratch / "traces";

  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"verify", folder}, {"summary", folder}, {"compare", folder, folder}}) {
    const Outcome outcome = profshim(command);
    EXPECT_EQ(outcome.ending(), "exit 0") << command[0] << ": " << outcome.out << outcome.err;
  }
  const Outcome report = profshim({"report", folder, "-o", scratch / "report.html"});
  EXPECT_EQ(report.ending(), "exit 0") << report.err;
  const Outcome both = profshim({"merge", folder, "-o", scratch / "merged.json"});
  EXPECT_NE(both.err.find("are of different windows"), std::string::npos) << both.err;
  const Outcome one = profshim(
      {"merge", folder + "/trace-rank0-w0.json", folder + "/trace-rank1-w0.json", "-o", scratch / "merged.json"});
  EXPECT_EQ(one.ending(), "exit 0") << one.err;
}

// ---- check
// -----------------------------------------------------------------------------------------------------------

TEST(Said, CheckEstimatesTheTraceAndTriesTheFolder) {
  const ScratchFolder scratch;
  const std::string large = scratch.write("large.toml", "version = 1\n[schedule]\nactive = 100000\n");
  const std::string file = scratch.write("file", "in the way");
  const std::string blocked =
      scratch.write("blocked.toml", "version = 1\n[output]\nfolder = \"" + file + "/{run_name}\"\n");

  const Outcome size = profshim({"check", large});
  const Outcome folder = profshim({"check", blocked});
  const Outcome fine = profshim({"check", scratch.write("fine.toml", "version = 1\n")});

  EXPECT_EQ(size.ending(), "exit 0");
  EXPECT_NE(size.err.find("limits.trace_size"), std::string::npos) << size.err;
  EXPECT_NE(size.err.find("100000000 events"), std::string::npos) << size.err;
  EXPECT_EQ(folder.ending(), "exit 0");
  EXPECT_NE(folder.err.find("on this machine: "), std::string::npos) << folder.err;
  EXPECT_EQ(fine.err, "");
}

}  // namespace
}  // namespace profshim::e2e
