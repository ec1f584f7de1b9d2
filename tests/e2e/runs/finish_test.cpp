#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

const std::string kFour = "version = 1\n[schedule]\nskip_first = 1\nwarmup = 0\nactive = 1\nrepeat = 4\n";

/// A program of 12 steps that records four windows.
Job job_of(const ScratchFolder& scratch, const std::string& output, const std::string& finish,
           const std::string& steps = "12") {
  Job job;
  job.command = {built("demo/heat"), steps, "64"};
  job.folder = scratch.path();
  const std::string spec =
      kFour + "[output]\nfolder = \"out\"\n" + output + (finish.empty() ? "" : "[finish]\n" + finish);
  job.environment = {{"PROFSHIM_SPEC", scratch.write("spec.toml", spec)}};
  return job;
}

/// A step of 0.1 s, so that a trace is written before the next begins.
const std::string kCalls =
    "import time\n"
    "from mpi4py import MPI\n"
    "def step():\n"
    "    MPI.COMM_WORLD.allreduce(1); MPI.COMM_WORLD.barrier(); time.sleep(0.1)\n";

std::string log_of(const ScratchFolder& scratch) { return text_of_file(scratch / "out/finish-rank0.log"); }
std::string finish_of(const ScratchFolder& scratch) {
  return json_member(text_of_file(scratch / "out/manifest-rank0.json"), "finish");
}

TEST(Retention, TheNewestTracesOfARankRemain) {
  const ScratchFolder scratch;
  const Outcome outcome = run(job_of(scratch, "num_traces_to_keep = 3\n", ""));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_NE(outcome.err.find("3 traces in"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("1 removed"), std::string::npos) << outcome.err;
  std::vector<std::string> traces;
  for (const std::string& file : files_below(scratch / "out"))
    if (file.find("step") == 0) traces.push_back(file);
  const std::vector<std::string> expected = {"step2", "step2/rank0.2.pt.trace.json",
                                             "step3", "step3/rank0.3.pt.trace.json",
                                             "step4", "step4/rank0.4.pt.trace.json"};
  EXPECT_EQ(traces, expected) << "the folder of the removed trace is gone, too";
  const Outcome ls = profshim({"ls", scratch / "out"});
  EXPECT_EQ(ls.ending(), "exit 0") << ls.out;
  EXPECT_NE(ls.out.find("1 trace removed"), std::string::npos) << ls.out;
}

TEST(Retention, RemovedTracesDoNotCountForTheLimitOfTraces) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, "num_traces_to_keep = 1\n[limits]\ntotal_traces = 2\n", "");
  job.command = {"/usr/bin/python3", "-c", kCalls + "for i in range(10): step()\n"};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.err.find("limits.total_traces"), std::string::npos) << outcome.err;
  EXPECT_EQ(json_member(text_of_file(scratch / "out/manifest-rank0.json"), "removed_traces"), "3");
}

TEST(Retention, ATraceThatReplacedAnotherOneStays) {
  const ScratchFolder scratch;
  for (int runs = 0; runs < 2; ++runs) {
    Job job = job_of(scratch, "num_traces_to_keep = 3\noverwrite = true\n", "");
    job.environment.emplace_back("PROFSHIM_RUN_NAME", "again");
    EXPECT_EQ(run(job).ending(), "exit 0");
  }
  EXPECT_EQ(read_folder(scratch / "out").size(), 3u);
  EXPECT_EQ(profshim({"ls", scratch / "out"}).ending(), "exit 0");
}

TEST(Retention, NoTraceIsLeftOnceTheFinishCommandHasIt) {
  const ScratchFolder scratch;
  const Outcome outcome =
      run(job_of(scratch, "num_traces_to_keep = 0\n", "command = 'cp $PROFSHIM_FILES \"$(pwd)/\"'\n"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_TRUE(read_folder(scratch / "out").empty());
  EXPECT_EQ(read_folder(scratch.path()).size(), 4u) << "the command has copied them";
  EXPECT_EQ(profshim({"ls", scratch / "out"}).ending(), "exit 0");
}

TEST(Retention, AllTracesAreLeftIfTheFinishCommandFails) {
  const ScratchFolder scratch;
  run(job_of(scratch, "num_traces_to_keep = 0\n", "command = 'exit 3'\n"));
  EXPECT_EQ(read_folder(scratch / "out").size(), 4u);
  EXPECT_EQ(finish_of(scratch), "failed: exit status 3");
}

TEST(Finish, TheCommandGetsTheFilesOnce) {
  const ScratchFolder scratch;
  const Outcome outcome = run(job_of(scratch, "",
                                     "command = 'echo \"$PROFSHIM_STATUS $PROFSHIM_RANK\"; for f in $PROFSHIM_FILES; "
                                     "do test -s \"$f\" && echo \"${f#$PROFSHIM_FOLDER/}\"; done; "
                                     "echo shim $PROFSHIM; echo to stderr >&2; ls /proc/self/fd | wc -w'\n"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(log_of(scratch),
            "finished 0\nstep1/rank0.1.pt.trace.json\nstep2/rank0.2.pt.trace.json\nstep3/rank0.3.pt.trace.json\n"
            "step4/rank0.4.pt.trace.json\nshim 0\nto stderr\n4\n");
  EXPECT_EQ(finish_of(scratch), "succeeded");
}

TEST(Finish, TheEndOfTheJobStaysAsItIs) {
  const ScratchFolder scratch;
  Both both = run_both(job_of(scratch, "", "command = 'echo on the output of the job; exit 3'\n"));
  expect_same(both);
  EXPECT_NE(both.with.err.find("finish.command failed: exit status 3"), std::string::npos) << both.with.err;
  const Outcome ls = profshim({"ls", scratch / "out"});
  EXPECT_EQ(ls.ending(), "exit 1") << ls.out;
  EXPECT_NE(ls.out.find("finish.command failed: exit status 3; its output: "), std::string::npos) << ls.out;
}

TEST(Finish, TheCommandIsKilledWithItsChildrenAfterItsTime) {
  const ScratchFolder scratch;
  const Outcome outcome =
      run(job_of(scratch, "", "command = 'sleep 4711 & echo $! > child; sleep 4712'\ntimeout_seconds = 1\n"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_NE(outcome.err.find("failed: killed"), std::string::npos) << outcome.err;
  const int child = std::stoi(text_of_file(scratch / "child"));
  bool is_gone = false;
  for (int tries = 0; tries < 200 && !is_gone; ++tries) {
    is_gone = kill(child, 0) != 0 || text_of_file("/proc/" + std::to_string(child) + "/cmdline").empty();
    usleep(10000);
  }
  EXPECT_TRUE(is_gone) << "process " << child << " is alive";
}

TEST(Finish, RunsAfterEachWindow) {
  const ScratchFolder scratch;
  run(job_of(scratch, "num_traces_to_keep = 1\n",
             "after = \"window\"\ncommand = 'for f in $PROFSHIM_FILES; do test -s \"$f\" && echo "
             "\"${f#$PROFSHIM_FOLDER/}\"; done'\n"));
  EXPECT_EQ(log_of(scratch),
            "step1/rank0.1.pt.trace.json\nstep2/rank0.2.pt.trace.json\nstep3/rank0.3.pt.trace.json\n"
            "step4/rank0.4.pt.trace.json\n")
      << "each trace reaches the command, although only one is kept";
  EXPECT_EQ(read_folder(scratch / "out").size(), 1u);
}

TEST(Finish, OnlyTheChosenRanksRunIt) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, "", "command = 'true'\nranks = \"1\"\n");
  const Job started = mpirun(Mpi::kOpenMpi, 2, job.command);
  job.command = started.command;
  job.environment.insert(job.environment.end(), started.environment.begin(), started.environment.end());
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  run(job);
  EXPECT_EQ(finish_of(scratch), "");
  EXPECT_EQ(json_member(text_of_file(scratch / "out/manifest-rank1.json"), "finish"), "succeeded");
}

// Rank 1 begins before rank 0 and ends after it.
TEST(Finish, AChosenRankWaitsForTheOtherRanksOfItsHost) {
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_gpu/memory"), fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job{.command = {"/bin/sh", "-c",
                      "RANK=1 " + program + " 40000 & until test -e out/manifest-rank1.json; do sleep 0.01; done; " +
                          "RANK=0 " + program + " 20; wait"}};
  job.folder = scratch.path();
  job.environment = {
      {"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
      {"WORLD_SIZE", "2"},
      {"PROFSHIM_RANKS", "all"},
      {"PROFSHIM_SPEC",
       scratch.write("spec.toml", record_all_spec("out") +
                                      "[finish]\nranks = \"0\"\ncommand = 'ls $PROFSHIM_FOLDER/step0/rank*'\n")}};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string log = log_of(scratch);
  EXPECT_NE(log.find("/rank0."), std::string::npos) << log;
  EXPECT_NE(log.find("/rank1."), std::string::npos) << log << outcome.err;
}

// The job looks for children of its own: the command is none.
TEST(Finish, TheJobDoesNotSeeTheCommandAsItsChild) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, "", "after = \"window\"\ncommand = 'sleep 0.1'\n");
  job.command = {"/usr/bin/python3", "-c",
                 kCalls +
                     "import os, signal\n"
                     "seen = []\n"
                     "signal.signal(signal.SIGCHLD, lambda *a: seen.append('SIGCHLD'))\n"
                     "for i in range(15):\n"
                     "    step()\n"
                     "    try: seen.append(os.waitpid(-1, os.WNOHANG))\n"
                     "    except ChildProcessError: pass\n"
                     "print(seen)\n"};
  expect_same(run_both(job));
  EXPECT_EQ(finish_of(scratch), "succeeded");
}

// The job puts a file of its own at the number of the library's pipe.
TEST(Finish, AFileOfTheJobIsNotReadInsteadOfThePipe) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, "", "after = \"window\"\ncommand = 'sleep 0.5'\n");
  job.command = {"/usr/bin/python3", "-c",
                 kCalls +
                     "import os\n"
                     "own = os.open('own.txt', os.O_RDWR | os.O_CREAT)\n"
                     "os.write(own, b'12'); os.lseek(own, 0, 0)\n"
                     "replaced = 0\n"
                     "for i in range(20):\n"
                     "    step()\n"
                     "    for fd in os.listdir('/proc/self/fd'):\n"
                     "        try: is_pipe = int(fd) > 511 and os.readlink('/proc/self/fd/' + fd).startswith('pipe:')\n"
                     "        except OSError: continue\n"
                     "        if is_pipe: os.dup2(own, int(fd)); replaced += 1\n"
                     "print(replaced > 0, os.lseek(own, 0, 1))\n"};
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=collective steps.pattern=MPI_Barrier");
  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "True 0\n") << "the job's file was read";
  EXPECT_EQ(finish_of(scratch), "failed: its outcome is not known: the job closed a descriptor of profshim");
}

TEST(Finish, RunsWhenASignalEndsTheJob) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, "", "command = 'sleep 0.3; echo $PROFSHIM_STATUS'\n");
  job.command = {built("tests/apps_ending/openmpi/ending"), "forever", "1", "500"};
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=collective steps.pattern=MPI_Allreduce steps.every=50");
  job.while_running = [&scratch](int pid) {
    for (int tries = 0; tries < 1000 && files_below(scratch / "out/step1").empty(); ++tries) usleep(10000);
    kill(pid, SIGTERM);
  };

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "signal 15");
  EXPECT_EQ(log_of(scratch), "finished\n");
  EXPECT_EQ(finish_of(scratch), "succeeded");
}

TEST(Finish, RunStartsItForARankThatWasKilled) {
  const ScratchFolder scratch;
  Job job =
      job_of(scratch, "",
             "command = 'echo $PROFSHIM_STATUS; for f in $PROFSHIM_FILES; do test -s \"$f\" && echo file; done'\n");
  job.command = {built("profshim"),
                 "run",
                 "-s",
                 "spec.toml",
                 "--set",
                 "steps.source=collective",
                 "--set",
                 "steps.pattern=MPI_Allreduce",
                 "--set",
                 "steps.every=50",
                 "--",
                 "sh",
                 "-c",
                 built("tests/apps_ending/openmpi/ending") +
                     " forever 1 500 & until ls out/step1; do sleep 0.1; done; kill -KILL $!; wait"};
  job.preload = false;
  job.environment.clear();
  run(job);
  // "killed": all windows had been written before the signal.
  const std::string log = log_of(scratch);
  EXPECT_TRUE(log.starts_with("recovered\nfile\n") || log.starts_with("killed\nfile\n")) << log;
  EXPECT_EQ(finish_of(scratch), "succeeded");
}

}  // namespace
}  // namespace profshim::e2e
