#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/base/clock.h"

namespace profshim::e2e {
namespace {

int lines_of(const std::string& path) {
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

TEST(GpuRecover, RecoversTheKernelsOfAKilledJob) {
  const ScratchFolder scratch;
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job{.command = {built("tests/apps_gpu/launch_loop"), "100000000", "100"}};
  job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                     {"RANK", "0"},
                     {"WORLD_SIZE", "1"},
                     {"FAKE_CUDA_TIMELINE", scratch / "timeline"},
                     {"FAKE_CUDA_KERNEL_NS", "50000"},
                     {"PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces"))}};
  // 40000 kernels take 2 s. The library flushes CUPTI every second.
  job.while_running = [&](int pid) {
    const std::int64_t patience_until_ns = monotonic_ns() + 40'000'000'000;
    while (lines_of(scratch / "timeline") < 40000 && monotonic_ns() < patience_until_ns) usleep(20000);
    kill(pid, SIGKILL);
  };
  const Outcome outcome = run(job);
  ASSERT_EQ(outcome.ending(), "signal 9") << outcome.err;

  const Outcome recover = profshim({"recover", scratch / "traces"});

  ASSERT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  const SeenTrace& trace = traces[0];
  ASSERT_TRUE(trace.readable) << trace.error;
  EXPECT_EQ(trace.property("complete"), "false");
  EXPECT_EQ(trace.property("recovered"), "true");
  EXPECT_EQ(profshim({"verify", trace.path}).ending(), "exit 0");
  std::set<std::string> ran;
  for (const Ran& one : read_timeline(scratch / "timeline")) ran.insert(std::to_string(one.correlation));
  const auto kernels = of_category(trace, "kernel");
  EXPECT_GT(kernels.size(), 5000u) << "of " << ran.size();
  for (const SeenEvent* kernel : kernels) {
    EXPECT_EQ(kernel->pid, 0);
    EXPECT_EQ(ran.count(kernel->args.at("correlation")), 1u) << "no such kernel ran";
  }
  bool named = false;
  for (const SeenEvent& event : trace.events)
    named = named || (event.name == "process_labels" && event.pid == 0 && event.args.at("labels") == "GPU 0");
  EXPECT_TRUE(named);
}

TEST(GpuRecover, RecoversTheNcclVersionOfAKilledJob) {
  const ScratchFolder scratch;
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job{.command = {built("tests/apps_gpu/ddp"), "100000000"}};
  job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                     {"RANK", "0"},
                     {"WORLD_SIZE", "1"},
                     {"DDP_ID_FILE", scratch / "id"},
                     {"FAKE_CUDA_TIMELINE", scratch / "timeline"},
                     {"PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces"))}};
  job.while_running = [&](int pid) {
    const std::int64_t patience_until_ns = monotonic_ns() + 40'000'000'000;
    while (lines_of(scratch / "timeline") < 100 && monotonic_ns() < patience_until_ns) usleep(20000);
    kill(pid, SIGKILL);
  };
  ASSERT_EQ(run(job).ending(), "signal 9");

  ASSERT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(json_member(traces[0].metadata.at("distributedInfo"), "nccl_version"), "2.28.9");
}

}  // namespace
}  // namespace profshim::e2e
