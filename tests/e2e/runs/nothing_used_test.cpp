// Programs that use no library which begins a recording.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr const char* kSentence = "used no MPI, NCCL, CUDA or PyTorch";
constexpr const char* kPython = "/usr/bin/python3";
// A process that computes takes a second of CPU time or has loaded NumPy.
constexpr const char* kCompute = "import time\nwhile time.process_time() < 1.1: pass\n";

Outcome run_all(Job job, const std::string& settings = "") {
  const ScratchFolder scratch;
  job.environment.emplace_back("PROFSHIM_RANKS", "all");
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  if (!settings.empty()) job.environment.emplace_back("PROFSHIM_SET", settings);
  Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_TRUE(files_below(scratch.path()).empty());
  return outcome;
}

TEST(NothingUsed, AProgramThatComputesSaysWhatWouldRecordIt) {
  const ScratchFolder scratch;

  const Outcome outcome = run_all({.command = {kPython, scratch.write("train.py", kCompute)}});

  ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  const std::string line = outcome.shim_lines()[0];
  EXPECT_NE(line.find(kSentence), std::string::npos) << line;
  EXPECT_NE(line.find("(train)"), std::string::npos) << line;
  EXPECT_NE(line.find("process.match = [\"*train*\"]"), std::string::npos) << line;
}

TEST(NothingUsed, ToolsAndShellsSayNothing) {
  const Outcome outcome =
      run_all(shell("true; ls / >/dev/null; awk 'BEGIN { for (i = 0; i < 2e7; ++i) n += i; print n }'"));

  EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
}

TEST(NothingUsed, AnotherRankSaysNothing) {
  const ScratchFolder scratch;
  Job job{.command = {kPython, scratch.write("train.py", kCompute)}};
  job.environment = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};

  EXPECT_TRUE(run_all(job).shim_lines().empty());
}

TEST(NothingUsed, WorkersOfOneProgramSayItOnce) {
  const ScratchFolder scratch;
  const std::string script =
      "import multiprocessing, time\n"
      "def work(i):\n    while time.process_time() < 1.1: pass\n"
      "if __name__ == '__main__':\n"
      "    work(0)\n"
      "    context = multiprocessing.get_context('spawn')\n"
      "    workers = [context.Process(target=work, args=(i,)) for i in range(2)]\n"
      "    [w.start() for w in workers]\n    [w.join() for w in workers]\n";

  const Outcome outcome = run_all({.command = {kPython, scratch.write("pool.py", script)}});

  EXPECT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
}

/// Records the program `match` from its start.
std::vector<SeenTrace> from_start(const std::vector<std::string>& command, const std::string& match,
                                  const std::string& settings) {
  const ScratchFolder scratch;
  Job job{.command = command};
  job.environment = {{"PROFSHIM_RANKS", "all"},
                     {"PROFSHIM_FOLDER", scratch / "traces"},
                     {"PROFSHIM_SET", "process.require_any=\"start\" process.match=" + match + " " + settings}};
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.err.find("nothing was recorded"), std::string::npos) << outcome.err;
  return read_folder(scratch / "traces");
}

/// Calls my_step() until a window is open and the library's thread that finds the interpreter, which sleeps 2 to 10 ms
/// between looks, has looked often; then 2000 times.
constexpr const char* kCallsUntilSeen = R"(
import glob, os
def my_step(i): return i + 1
def sleeps():
    for path in glob.glob("/proc/self/task/*/status"):
        text = open(path).read()
        if text.startswith("Name:\tprofshim-coll\n"):
            return int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return 0
def is_recording():
    return any('"active"' in open(path).read() for path in glob.glob(os.environ["PROFSHIM_FOLDER"] + "/manifest-*"))
def call_until(condition):
    while not condition():
        for i in range(100): my_step(i)
call_until(is_recording)
before = sleeps()
call_until(lambda: sleeps() > before + 50)
for i in range(2000): my_step(i)
)";

TEST(RecordingFromTheStart, HasPythonCalls) {
  const ScratchFolder scratch;
  const std::string script = scratch.write("train.py", kCallsUntilSeen);

  const auto traces = from_start({"/bin/sh", "-c", std::string(kPython) + " " + script + "; true"}, "*train.py",
                                 "steps.source=none capture.python_calls=true");

  ASSERT_EQ(traces.size(), 1u);
  const auto& events = traces[0].events;
  EXPECT_GT(std::count_if(events.begin(), events.end(),
                          [](const auto& e) { return e.name.find("my_step") != std::string::npos; }),
            1000);
}

TEST(RecordingFromTheStart, FindsStepsInFunctionsAndRanges) {
  for (const char* steps : {"steps.source=symbol steps.pattern=marked_step", "steps.source=nvtx steps.pattern=step*"}) {
    const auto traces = from_start({built("tests/apps_nvtx/plain_steps")}, "*plain_steps",
                                   std::string(steps) + " schedule.skip_first=4 schedule.warmup=0 schedule.active=3");
    ASSERT_EQ(traces.size(), 1u) << steps;
  }
}

}  // namespace
}  // namespace profshim::e2e
