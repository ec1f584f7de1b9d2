#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

void stay_on_one_cpu() {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof allowed, &allowed);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
}

TEST(CpuUse, RanksThatShareACpuWaitForIt) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 2, {built("tests/apps/openmpi/steps_loop"), "20", "0", "0", "2000"});
  job.folder = scratch.path();
  job.before_exec = stay_on_one_cpu;
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("all.toml", record_all_spec(scratch / "run")));

  const Outcome outcome = run(job);

  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::vector<SeenTrace> traces = read_folder(scratch / "run");
  ASSERT_EQ(traces.size(), 2u);
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count waits for a CPU";
  double waited = 0, used = 0, measured = 0;
  for (const SeenTrace& trace : traces) {
    const std::string cpu = trace.property("cpu");
    ASSERT_NE(cpu, "") << trace.path;
    const auto number = [&](const char* key) { return std::stod(json_member(cpu, key)); };
    waited += number("waited_us");
    used += number("process_us");
    measured = std::max(measured, number("measured_us"));
    EXPECT_LE(number("process_us"), number("measured_us") * number("cpus"));
    EXPECT_LE(number("machine_us"), number("measured_us") * (number("cpus") + 1));
    EXPECT_EQ(number("cpus"), static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  }
  EXPECT_GT(waited, 0.6 * measured);
  EXPECT_LT(used, 1.4 * measured);
}

}  // namespace
}  // namespace profshim::e2e
