// The page about memory over time: output.export = memory_timeline, and `profshim report --memory`.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/browser.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr std::uintmax_t kMostBytes = 2'000'000;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Expects that the page beside the trace is that of the command; returns it.
std::string page_beside(const ScratchFolder& scratch, const std::string& trace) {
  const std::string page = trace.substr(0, trace.find(".pt.trace.json")) + ".memory.html", made = scratch / "made.html";
  const Outcome outcome = profshim({"report", "--memory", trace, "-o", made});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string text = text_of_file(page);
  EXPECT_FALSE(text.empty()) << page;
  EXPECT_TRUE(text == text_of_file(made)) << page << " differs from that of the command";
  EXPECT_LT(text.size(), kMostBytes);
  return text;
}

Job training(const ScratchFolder& scratch, const std::string& arguments, const std::string& keys = "") {
  return torch_job(scratch, Launch::kAlone, "memory.py " + arguments,
                   "capture.profile_memory=true output.export=chrome_trace,memory_timeline" + keys);
}

TEST(MemoryPage, OfATrainingHasCurvesPeaksAndStacks) {
  NEEDS_TORCH(1);
  NEEDS_BROWSER();
  const ScratchFolder scratch;
  const Outcome outcome = run(training(scratch, "--no-profiler", " capture.with_stack=true"));
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

  const std::string start = scratch / "traces/step11/rank0.11";
  const std::string page = page_beside(scratch, start + ".pt.trace.json");

  EXPECT_TRUE(holds(page, "<h2>CPU, PyTorch&#39;s allocator</h2>"));
  EXPECT_TRUE(holds(page, "AddmmBackward0 &gt; aten::mm"));
  EXPECT_TRUE(holds(page, "memory.py(")) << "no stacks";
  for (const char* const part : {"backward", "other operators", "data loader"}) {
    EXPECT_TRUE(holds(page, "{\"label\":\"" + std::string(part) + "\"")) << part;
  }
  EXPECT_TRUE(holds(text_of_file(scratch / "traces/manifest-rank0.json"),
                    "\"memory_timeline\": \"step11/rank0.11.memory.html\""));
  const std::string dom = opened(scratch, start + ".memory.html");
  EXPECT_TRUE(holds(root_of(dom), "data-drawn=\"2\"")) << root_of(dom);
  EXPECT_FALSE(holds(root_of(dom), "data-errors")) << root_of(dom);
}

TEST(MemoryPage, ShowsFailedAllocations) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = training(scratch, "--no-profiler --too-much");
  const std::string steps = "[steps]\nsource = \"torch\"\npattern = \"Optimizer.step*\"\nedge = \"end\"\n";
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\n" + steps));
  const Outcome outcome = run(job);
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

  const std::string page = page_beside(scratch, scratch / "traces/step11/rank0.11.pt.trace.json");

  EXPECT_TRUE(holds(page, "1 allocation failed, the first after ")) << page.substr(0, 3000);
  EXPECT_TRUE(holds(page, "64 TiB of CPU"));
}

TEST(MemoryPage, IsMadeOfATraceOfPyTorchItself) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = torch_job(scratch, Launch::kAlone, "profiler/key_averages.py " + scratch.path() + " memory stack");
  job.preload = false;
  const Outcome outcome = run(job);
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

  const Outcome made = profshim({"report", "--memory", scratch / "trace.json", "-o", scratch / "page.html"});

  // Debian's PyTorch has no Kineto: it writes no memory events.
  if (!holds(text_of_file(scratch / "trace.json"), "[memory]")) {
    EXPECT_EQ(made.ending(), "exit 2");
    EXPECT_TRUE(holds(made.err, "no memory events")) << made.err;
    return;
  }
  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_TRUE(holds(made.out, "CPU: at most ")) << made.out;
  const std::string page = text_of_file(scratch / "page.html");
  EXPECT_TRUE(holds(page, "<h2>CPU</h2>"));
  EXPECT_TRUE(holds(page, "{\"label\":\"backward\""));
  EXPECT_TRUE(holds(page, "aten::randn"));
}

/// The job makes the file "recorded" after two seconds, and pauses after each 1,000 rounds, so that CUPTI does not run
/// out of buffers on a busy machine.
Job gpu_job(const ScratchFolder& scratch, const std::string& rounds, const std::string& more = "") {
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job{.command = {built("tests/apps_gpu/memory"), rounds, scratch / "recorded"}};
  job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                     {"RANK", "0"},
                     {"WORLD_SIZE", "1"},
                     {"PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces") +
                                                                   "export = [\"chrome_trace\", \"memory_timeline\"]\n"
                                                                   "[capture]\nprofile_memory = true\n" +
                                                                   more)}};
  return job;
}

TEST(MemoryPageOfGpus, HasWhatCudaAllocates) {
  const ScratchFolder scratch;
  const Outcome outcome = run(gpu_job(scratch, "20"));
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = traces_below(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);

  const std::string page = page_beside(scratch, traces[0]);

  // cudaMalloc() of 1000 to 1019 bytes and cudaMallocManaged() of 3000; cudaMallocHost() of 2000.
  EXPECT_TRUE(holds(page, "CUDA 0, allocated from CUDA: at most 3.9 KiB allocated")) << page.substr(0, 3000);
  EXPECT_TRUE(holds(page, "CPU, allocated from CUDA: at most 2.0 KiB allocated")) << page.substr(0, 3000);
  EXPECT_TRUE(holds(page, ">cudaMallocManaged</td>"));
}

TEST(MemoryPageOfGpus, IsMadeByRecover) {
  const ScratchFolder scratch;
  Job job = gpu_job(scratch, "100000000");
  job.while_running = [&](int pid) {
    while (access((scratch / "recorded").c_str(), F_OK) != 0 && kill(pid, 0) == 0) usleep(1000);
    kill(pid, SIGKILL);
  };
  ASSERT_EQ(run(job).ending(), "signal 9");

  const Outcome recover = profshim({"recover", scratch / "traces"});

  ASSERT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  const auto traces = traces_below(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_TRUE(holds(page_beside(scratch, traces[0]), "The window is incomplete"));
}

TEST(MemoryPageOfGpus, BeyondItsMemoryTheCommandIsNamed) {
  const ScratchFolder scratch;
  const Outcome outcome = run(gpu_job(scratch, "12000", "[limits]\nhost_memory = \"64 MiB\"\n"));

  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string manifest = text_of_file(scratch / "traces/manifest-rank0.json");
  EXPECT_TRUE(holds(
      manifest, "\"memory_timeline\": \"failed: its events need more memory than limits.host_memory leaves for it\""))
      << manifest;
  EXPECT_TRUE(holds(outcome.err, "run  profshim report --memory ")) << outcome.err;
}

TEST(MemoryPage, IsNotWrittenWithoutMemoryEvents) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "memory.py --no-profiler",
                                        "capture.profile_memory=true output.export=chrome_trace,memory_timeline "
                                        "capture.exclude=cpu_instant_event"));
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string start = scratch / "traces/step11/rank0.11";

  const Outcome made = profshim({"report", "--memory", start + ".pt.trace.json", "-o", scratch / "page.html"});

  EXPECT_FALSE(std::filesystem::exists(start + ".memory.html"));
  EXPECT_EQ(made.ending(), "exit 2");
  EXPECT_TRUE(holds(made.err, "no memory events: record with capture.profile_memory = true")) << made.err;
}

TEST(MemoryPage, IsThatOfOneTrace) {
  const std::string golden = PROFSHIM_SOURCE_DIR "/tests/golden/traces/";
  const Outcome made = profshim(
      {"report", "--memory", golden + "hta-ddp-nccl-3steps.json.gz", golden + "tracelens-b200-8gpu-rank0.json.gz"});

  EXPECT_EQ(made.ending(), "exit 2");
  EXPECT_TRUE(holds(made.err, "--memory makes the page of one trace, but there are 2")) << made.err;
}

}  // namespace
}  // namespace profshim::e2e
