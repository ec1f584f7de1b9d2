#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

GpuRun launch_loop(const std::string& capture) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"300", "100"};
  job.spec = std::string(kRecordAll) + capture;
  return run_gpu(job);
}

/// Fifty steps of Open MPI, with traces in scratch / "traces". `capture`: keys of [capture].
void record_mpi(const ScratchFolder& scratch, int ranks, const std::string& capture) {
  Job job = mpirun(Mpi::kOpenMpi, ranks, {built("tests/apps/openmpi/allreduce_loop"), "50"});
  job.environment.emplace_back(
      "PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") + "[capture]\n" + capture));
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
}

std::size_t flows(const SeenTrace& trace) {
  return static_cast<std::size_t>(
      std::count_if(trace.events.begin(), trace.events.end(), [](const SeenEvent& e) { return e.phase == "s"; }));
}

TEST(EventsLeftOut, KernelsGoWithTheirArrowsAndAreCounted) {
  const GpuRun all = launch_loop(""), part = launch_loop("[capture]\nexclude = [\"tiny_kernel*\"]\n");
  ASSERT_EQ(all.traces.size(), 1u) << all.outcome.err;
  ASSERT_EQ(part.traces.size(), 1u) << part.outcome.err;
  std::size_t tiny = 0;
  for (const SeenEvent* kernel : of_category(all.traces[0], "kernel")) tiny += kernel->name.starts_with("tiny_kernel");
  ASSERT_GT(tiny, 0u);

  const SeenTrace& trace = part.traces[0];
  EXPECT_EQ(of_category(trace, "kernel").size(), of_category(all.traces[0], "kernel").size() - tiny);
  for (const SeenEvent* kernel : of_category(trace, "kernel")) EXPECT_FALSE(kernel->name.starts_with("tiny_kernel"));
  EXPECT_EQ(flows(trace), flows(all.traces[0]) - tiny);
  EXPECT_EQ(of_category(trace, "cuda_runtime").size(), of_category(all.traces[0], "cuda_runtime").size());
  const std::string left_out = trace.property("left_out");
  EXPECT_EQ(json_member(left_out, "events"), std::to_string(tiny)) << left_out;
}

TEST(EventsLeftOut, SummaryAndReportSayThatSumsLackThem) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "traces";
  record_mpi(scratch, 1, "exclude = [\"MPI_Allreduce\"]\n");

  const Outcome summary = profshim({"summary", folder});
  EXPECT_NE(summary.err.find("50 events are left out by the spec"), std::string::npos) << summary.err;
  const Outcome report = profshim({"report", "-o", scratch / "report.html", folder});
  EXPECT_EQ(report.ending(), "exit 0") << report.err;
  EXPECT_NE(text_of_file(scratch / "report.html").find("50 events are left out by the spec"), std::string::npos);
  EXPECT_NE(text_of_file(scratch / "report.html").find("No recorded event was lost"), std::string::npos);
}

TEST(EventsLeftOut, ToolsReadTheRest) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "traces";
  record_mpi(scratch, 2, "exclude = [\"MPI_Init*\"]\nmin_us = 1000000\n");

  const auto traces = read_folder(folder);
  ASSERT_EQ(traces.size(), 2u);
  for (const SeenTrace& trace : traces) {
    EXPECT_EQ(trace.calls("MPI_Allreduce").size(), 50u) << "merge needs them";
    EXPECT_EQ(trace.calls("MPI_Init").size(), 0u);
  }
  for (const char* const command : {"verify", "summary", "report"})
    EXPECT_EQ(profshim(command == std::string("report")
                           ? std::vector<std::string>{"report", "-o", scratch / "report.html", folder}
                           : std::vector<std::string>{command, folder})
                  .ending(),
              "exit 0")
        << command;
  EXPECT_EQ(profshim({"merge", "-o", scratch / "all.json", folder}).ending(), "exit 0");
}

}  // namespace
}  // namespace profshim::e2e
