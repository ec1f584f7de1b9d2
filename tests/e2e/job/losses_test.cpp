// A trace is complete exactly if nothing is missing in it, by the job's own counts.
#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

Job sends(const ScratchFolder& scratch, Mpi mpi, const std::string& calls, const std::string& settings) {
  Job job = mpirun(mpi, 1, {built("tests/apps_limits/" + to_string(mpi) + "/brief_threads"), "1", "1", calls});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none limits.disk_free=1MiB output.gzip=false " + settings);
  return job;
}

TEST(Losses, TraceWithDroppedEventsIsIncomplete) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Outcome outcome =
        run(sends(scratch, mpi, "1000000", "limits.host_memory=16MiB limits.on_limit=drop_old limits.trace_size=8GiB"));

    if (outcome.exit_status == 77) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "profshim");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_NE(traces[0].property("dropped_events"), "0");
    EXPECT_EQ(traces[0].property("complete"), "false");
    EXPECT_NE(traces[0].property("missing").find(traces[0].property("dropped_events") + " events are missing"),
              std::string::npos)
        << traces[0].property("missing");
  }
}

TEST(Losses, TraceWithAllCallsIsComplete) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Outcome outcome = run(sends(scratch, mpi, "20000", ""));

    if (outcome.exit_status == 77) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "profshim");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(traces[0].counts()["MPI_Send"], 20'000);
    EXPECT_EQ(traces[0].property("complete"), "true") << traces[0].property("missing");
  }
}

TEST(Losses, NvtxThatAnotherToolHasIsMissingOnlyIfTheSpecAsksForIt) {
  for (const bool is_asked : {true, false}) {
    const ScratchFolder scratch;
    Job job = sends(scratch, installed_mpis().front(), "100", is_asked ? "" : "capture.activities=mpi");
    job.environment.emplace_back("NVTX_INJECTION64_PATH", "/nonexistent/libtool.so");

    const Outcome outcome = run(job);

    if (outcome.exit_status == 77) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "profshim");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(traces[0].property("complete"), is_asked ? "false" : "true") << traces[0].property("missing");
    const bool is_said = traces[0].property("missing").find("NVTX ranges are not recorded") != std::string::npos;
    EXPECT_EQ(is_said, is_asked) << traces[0].property("missing");
  }
}

TEST(Losses, TraceWithoutSomeNamesOrDescriptionsIsIncomplete) {
  struct Case {
    const char *names, *types, *key, *sentence;
  };
  for (const Case& full :
       {Case{"200000", "0", "names_lost", " names of ranges, kernels or files are missing"},
        Case{"0", "70000", "definitions_lost", " communicators, types, streams or other metadata are not described"}}) {
    const ScratchFolder scratch;
    Job job = mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_full_tables"), full.names, full.types});
    job.environment.emplace_back(
        "PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces") +
                                                     "[limits]\nhost_memory = \"128 MiB\"\ntrace_size = \"1 GiB\"\n"));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(traces[0].property("complete"), "false");
    EXPECT_NE(traces[0].property(full.key), "0");
    const std::string expected = traces[0].property(full.key) + full.sentence;
    EXPECT_NE(traces[0].property("missing").find(expected), std::string::npos) << traces[0].property("missing");
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    const Outcome verdict = profshim({"verify", scratch / "traces"});
    EXPECT_NE(verdict.out.find(expected), std::string::npos) << verdict.out;
  }
}

TEST(Losses, WindowsThatAFullDiskRefusedAreCounted) {
  const ScratchFolder scratch;

  const Outcome outcome =
      run(heat_job(scratch, 1, 30,
                   "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=0 schedule.wait=0 "
                   "schedule.warmup=0 schedule.active=1 schedule.repeat=0 limits.disk_free=100000TiB"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  const std::string manifest = text_of_file(scratch / "traces/manifest-rank0.json");
  const auto number = [&manifest](const std::string& key) {
    const std::size_t at = manifest.find("\"" + key + "\": ");
    return at == std::string::npos ? -1 : std::stol(manifest.substr(at + key.size() + 4));
  };
  EXPECT_GE(number("asked"), 29) << manifest;
  EXPECT_EQ(number("lost_disk_full"), number("asked")) << manifest;
  EXPECT_EQ(number("written"), 0) << manifest;
}

TEST(Losses, OperatorsOfAllThreadsAreRecordedFromTheFirstOn) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = torch_lines(scratch, R"(import sys, threading, torch
def work():
    for i in range(3000): torch.mm(torch.ones(8, 8), torch.ones(8, 8))
threads = [threading.Thread(target=work) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads])",
                        "version = 1\n[steps]\nsource = \"none\"\n[limits]\ndisk_free = \"1MiB\"\n");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "profshim");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].counts()["aten::mm"], 12'000) << traces[0].property("missing");
  EXPECT_EQ(traces[0].property("complete"), "true") << traces[0].property("missing");
}

}  // namespace
}  // namespace profshim::e2e
