// CPU time and counters of the steps, against readings of the jobs themselves.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>
#include <sstream>

#include "e2e/support/answers/written_summary.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

using Numbers = std::map<std::string, double>;

/// Lines "step N KEY NUMBER ...".
std::map<std::int64_t, Numbers> printed_steps(const std::string& out) {
  std::map<std::int64_t, Numbers> steps;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::int64_t step = 0;
    if (!(words >> key >> step) || key != "step") continue;
    for (double number = 0; words >> key >> number;) steps[step][key] = number;
  }
  return steps;
}

double number_of(const SeenTrace& trace, std::int64_t step, const std::string& arg) {
  for (const SeenEvent* const event : trace.calls("ProfilerStep#" + std::to_string(step))) {
    const auto at = event->args.find(arg);
    if (at != event->args.end()) return std::stod(at->second);
  }
  return -1;
}

/// The job's readings around the barriers that begin and end `step` are bounds for the library's reading in between.
void expect_between(double number, Numbers& printed, const std::string& key, double rounding, std::int64_t step) {
  EXPECT_GE(number, printed[key] - rounding) << key << " of step " << step;
  EXPECT_LE(number, printed[key + "_most"] + rounding) << key << " of step " << step;
}

const std::vector<std::string> kWork = {"cpu", "2000", "cpu",   "9000", "sleep", "20000", "touch", "500",
                                        "cpu", "400",  "sleep", "3000", "cpu",   "4000",  "cpu",   "1000"};

std::string worked_steps_spec(const ScratchFolder& scratch, const std::string& marker, const std::string& more) {
  return scratch.write(
      "s.toml", "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = \"" + marker +
                    "\"\n[schedule]\nsteps = [\"1-6\"]\n[output]\nfolder = \"" + (scratch / "traces") +
                    "\"\ngzip = false\n" + more);
}

Job worked_steps(const ScratchFolder& scratch, Mpi mpi, const std::string& more = "") {
  std::vector<std::string> command = {built("tests/apps_system/" + to_string(mpi) + "/worked_steps")};
  command.insert(command.end(), kWork.begin(), kWork.end());
  Job job = mpirun(mpi, 1, command);
  job.environment.emplace_back("PROFSHIM_SPEC", worked_steps_spec(scratch, "MPI_Barrier", more));
  return job;
}

TEST(StepCpuTime, OfAnMpiJobIsWhatTheKernelCounted) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Outcome outcome = run(worked_steps(scratch, mpi));

    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    auto printed = printed_steps(outcome.out);
    ASSERT_EQ(printed.size(), 8u) << outcome.out;
    for (std::int64_t step = 1; step <= 6; ++step) {
      expect_between(number_of(traces[0], step, "CPU (us)"), printed[step], "cpu_us", 1, step);
    }
    EXPECT_LT(number_of(traces[0], 2, "CPU (us)"), 1000) << "a step that sleeps";
    EXPECT_EQ(expect_written_summaries(scratch / "traces"), 1);
  }
}

TEST(StepCpuTime, OfAPyTorchJobIsThatOfItsThread) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string script = R"(
import time, torch
torch.set_num_threads(1)
a = torch.rand(200, 200)
before, inside = [], []
for i in range(8):
  before.append(time.thread_time_ns())
  with torch.profiler.record_function("iteration " + str(i)):
    inside.append(time.thread_time_ns())
    for _ in range(10 * (i + 1)): a = torch.mm(a, a) / 100
    time.sleep(0.005)
for i in range(7):
  print("step", i, "cpu_us", (before[i + 1] - inside[i]) / 1000, "cpu_us_most", (inside[i + 1] - before[i]) / 1000)
)";

  const Outcome outcome =
      run(torch_lines(scratch, script,
                      "version = 1\n[steps]\nsource = \"torch\"\npattern = \"iteration *\"\n[schedule]\nsteps = "
                      "[\"2-5\"]\n[output]\nfolder = \"traces\"\ngzip = false\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  auto printed = printed_steps(outcome.out);
  for (std::int64_t step = 2; step <= 5; ++step) {
    EXPECT_GT(printed[step]["cpu_us"], 500) << outcome.out;
    expect_between(number_of(traces[0], step, "CPU (us)"), printed[step], "cpu_us", 1, step);
  }
}

TEST(StepCpuTime, IsUnknownWhereStepsAreFoundLater) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  Job job = torch_job(scratch, Launch::kAlone, "two_optimizers.py");
  job.environment.emplace_back("PROFSHIM_STEPS", "1-3");  // no search is over by then
  const Outcome outcome = run(job);

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  ASSERT_FALSE(traces[0].steps().empty());
  for (const std::int64_t step : traces[0].steps()) EXPECT_EQ(number_of(traces[0], step, "CPU (us)"), -1);
}

constexpr const char* kCounters =
    "[counters]\nperf = [\"instructions\", \"page_faults\", \"context_switches\", \"task_clock\"]\n";

TEST(StepCounters, OfAnMpiJobAreWhatTheKernelCounted) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Outcome outcome = run(worked_steps(scratch, mpi, kCounters));

    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    auto printed = printed_steps(outcome.out);
    const std::string problems = traces[0].property("problems");
    for (std::int64_t step = 1; step <= 6; ++step) {
      if (problems.find("page_faults cannot be shown") != std::string::npos) break;
      const auto counted = [&](const char* name) { return number_of(traces[0], step, name); };
      expect_between(counted("page_faults"), printed[step], "page_faults", 0, step);
      expect_between(counted("context_switches"), printed[step], "context_switches", 0, step);
      expect_between(counted("task_clock (us)"), printed[step], "task_clock_us", 1, step);
    }
    EXPECT_GE(printed[3]["page_faults"], 500) << outcome.out;
    EXPECT_TRUE((number_of(traces[0], 1, "instructions") > 10'000) !=
                (problems.find("instructions cannot be shown: ") != std::string::npos))
        << problems;
    EXPECT_EQ(expect_written_summaries(scratch / "traces"), 1);
  }
}

TEST(StepCounters, ThatAFilterRefusesAreAProblemAndNoLossOfTheJob) {
  for (const int error : {EPERM, ENOSYS}) {
    const ScratchFolder scratch;
    const Mpi mpi = installed_mpis().front();
    Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/refused"), std::to_string(error),
                        std::to_string(SYS_perf_event_open), "100"}};
    job.environment = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                       {"PROFSHIM_SPEC", worked_steps_spec(scratch, "MPI_Allreduce", kCounters)}};

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(number_of(traces[0], 2, "page_faults"), -1);
    const std::string expected = error == EPERM ? "page_faults cannot be shown: the kernel refuses perf_event_open()"
                                                : "page_faults cannot be shown: the kernel or a seccomp filter has no "
                                                  "perf_event_open()";
    EXPECT_NE(traces[0].property("problems").find(expected), std::string::npos) << traces[0].property("problems");
  }
}

}  // namespace
}  // namespace profshim::e2e
