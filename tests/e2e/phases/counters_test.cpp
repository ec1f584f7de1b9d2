// Counters of phases ([counters] perf), against readings of the jobs themselves.
#include <gtest/gtest.h>

#include <sstream>

#include "e2e/support/recorded_jobs.h"
#include "e2e/support/torch_run.h"
#include "phase_events.h"

namespace profshim::e2e {
namespace {

/// touch(n) takes n page faults. measured() prints the name of a call, its page faults and its task clock in
/// microseconds: first of touch() alone, then of the whole call. A task clock, since the CPU clock of a thread leaves
/// the hypervisor's time out. The attributes are those of PERF_ATTR_SIZE_VER0 (linux/perf_event.h), the second time
/// with exclude_kernel.
constexpr const char* kTouch = R"(
import ctypes, mmap, os, platform, resource, struct, threading, time
SYS_perf_event_open = {"x86_64": 298, "aarch64": 241}[platform.machine()]
own = threading.local()
def counted():
    for flags in 0, 1 << 5:
        if getattr(own, "clock", -1) < 0:
            task_clock = struct.pack("<IIQ24xQ16x", 1, 64, 1, flags)
            own.clock = ctypes.CDLL(None).syscall(SYS_perf_event_open, task_clock, 0, -1, -1, 0)
    clock_us = int.from_bytes(os.read(own.clock, 8), "little") / 1000 if own.clock >= 0 else 0
    use = resource.getrusage(resource.RUSAGE_THREAD)
    return use.ru_minflt + use.ru_majflt, clock_us
touched = [0, 0]
def touch(pages):
    before = counted()
    memory = mmap.mmap(-1, pages * 4096)
    for i in range(pages): memory[i * 4096] = 1
    memory.close()
    for i, (first, last) in enumerate(zip(before, counted())): touched[i] += last - first
def measured(name, call, *arguments):
    touched[:] = 0, 0
    before = counted()
    call(*arguments)
    after = counted()
    print(name, *touched, after[0] - before[0], after[1] - before[1])
)";

constexpr const char* kCounters = "[counters]\nperf = [\"page_faults\", \"task_clock\"]\n";

/// The job's readings around and inside a phase are bounds for the library's reading.
struct Counts {
  double faults, clock_us, most_faults, most_clock_us;
};

std::map<std::string, Counts> printed(const std::string& out) {
  std::map<std::string, Counts> found;
  std::istringstream lines(out);
  std::string name;
  for (Counts counts{};
       lines >> name >> counts.faults >> counts.clock_us >> counts.most_faults >> counts.most_clock_us;)
    found[name] = counts;
  return found;
}

/// Expects that the occurrence counted what the job printed.
void expect_counted(const SeenEvent& one, const Counts& theirs) {
  SCOPED_TRACE(one.name);
  ASSERT_EQ(one.args.count("page_faults"), 1u);
  const double faults = std::stod(one.args.at("page_faults")), clock_us = std::stod(one.args.at("task_clock (us)"));
  EXPECT_GE(faults, theirs.faults);
  EXPECT_LE(faults, theirs.most_faults);
  EXPECT_GT(theirs.clock_us, 0);
  EXPECT_GE(clock_us, theirs.clock_us - 1);
  EXPECT_LE(clock_us, theirs.most_clock_us + 1);
}

/// Returns the trace, or nothing if the machine has no counters.
std::optional<SeenTrace> trace_with_counters(const ScratchFolder& scratch, const Outcome& outcome) {
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  EXPECT_EQ(traces.size(), 1u) << outcome.err;
  if (traces.size() != 1) return std::nullopt;
  if (traces[0].property("problems").find("page_faults cannot be shown") != std::string::npos) return std::nullopt;
  return traces[0];
}

TEST(PhaseCounters, OfPythonFunctionsAreWhatTheKernelCounted) {
  const ScratchFolder scratch;
  const std::string script = kTouch + std::string(R"(
def inner(pages): touch(pages)
def outer(pages):
    touch(pages)
    inner(2 * pages)
def parts():
    touch(700); yield 1
    touch(500); yield 2
def run_parts():
    generator = parts()
    next(generator)
    touch(4000)
    list(generator)
time.sleep(0.1)
measured("outer", outer, 500)
measured("inner", inner, 300)
measured("parts", run_parts)
thread = threading.Thread(target=lambda: measured("thread", inner, 900))
thread.start(); thread.join()
)");
  std::string spec = std::string("[steps]\nsource = \"none\"\n") + kCounters;
  for (const char* phase : {"outer", "inner", "parts"})
    spec += std::string("[[phase]]\nname = \"") + phase + "\"\npython = \"__main__." + phase + "\"\n";
  Job job = phases_job(scratch, 1, {}, spec);
  job.command = {"/usr/bin/python3", "-c", "from mpi4py import MPI\n" + script};

  const Outcome outcome = run(job);

  const auto trace = trace_with_counters(scratch, outcome);
  if (!trace) return;
  auto theirs = printed(outcome.out);
  ASSERT_EQ(theirs.size(), 4u) << outcome.out;
  const auto outer = occurrences(*trace, "outer"), inner = occurrences(*trace, "inner"),
             parts = occurrences(*trace, "parts");
  ASSERT_EQ(outer.size(), 1u);
  ASSERT_EQ(inner.size(), 3u) << "inside outer, alone, and on a thread";
  expect_counted(*outer[0], theirs["outer"]);
  EXPECT_NEAR(std::stod(inner[0]->args.at("page_faults")), 1000, 40);
  expect_counted(*inner[1], theirs["inner"]);
  expect_counted(*inner[2], theirs["thread"]);
  ASSERT_GE(parts.size(), 2u);
  EXPECT_NEAR(std::stod(parts[0]->args.at("page_faults")), 700, 40);
  EXPECT_NEAR(std::stod(parts[1]->args.at("page_faults")), 500, 40) << "not what ran between the parts";
  EXPECT_NE(profshim({"summary", "--phases", scratch / "traces"}).out.find("Page faults"), std::string::npos);
}

TEST(PhaseCounters, OfRangesOfPyTorchAreThereBesideThoseOfSteps) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string script = kTouch + std::string(R"(
import torch
time.sleep(0.1)
for i in range(8):
  with torch.profiler.record_function("iteration " + str(i)):
    touch(100)
    def generate():
      with torch.profiler.record_function("generate"): touch(200 + 100 * i)
    measured("step" + str(i), generate)
)");

  const Outcome outcome = run(torch_lines(
      scratch, script,
      "version = 1\n[steps]\nsource = \"torch\"\npattern = \"iteration *\"\n[schedule]\nsteps = [\"2-5\"]\n" +
          std::string(kCounters) +
          "[[phase]]\nname = \"rollout\"\ntorch = \"generate\"\n[output]\nfolder = \"traces\"\ngzip = false\n"));

  const auto trace = trace_with_counters(scratch, outcome);
  if (!trace) return;
  auto theirs = printed(outcome.out);
  const auto rollouts = occurrences(*trace, "rollout");
  ASSERT_EQ(rollouts.size(), 4u) << outcome.err;
  for (int step = 2; step <= 5; ++step) {
    SCOPED_TRACE(step);
    expect_counted(*rollouts[static_cast<std::size_t>(step - 2)], theirs["step" + std::to_string(step)]);
    const auto steps = trace->calls("ProfilerStep#" + std::to_string(step));
    ASSERT_EQ(steps.size(), 1u);
    const double of_step = std::stod(steps[0]->args.at("page_faults"));
    EXPECT_NEAR(of_step, 300 + 100 * step, 60);
  }
}

}  // namespace
}  // namespace profshim::e2e
