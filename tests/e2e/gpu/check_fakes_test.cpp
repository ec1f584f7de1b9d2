// scripts/gpu_check.sh runs on the fake GPU, where measured times mean nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/sanitizer.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

constexpr char kNvidiaSmi[] =
    "#!/bin/sh\ncase \"$*\" in *=memory.total*) echo 81920 ;; *--query-gpu*) echo 'Fake GPU, 580.0, 80 GiB' ;; *) echo "
    "Fake ;; esac\n";

class GpuCheckOnFakes : public NeedsNvtx {
 protected:
  void SetUp() override {
    NeedsNvtx::SetUp();
    if (IsSkipped()) return;
    if (!sanitizer_preload().empty()) GTEST_SKIP() << "the script does not preload a sanitizer's runtime";
    for (const char* name : {"check_trace", "cupti_watch.so"}) link(built(std::string("tests/gpu/") + name), name);
    link(shim_path(), "libprofshim.so");
    link(tool_path(), "profshim");
    for (const char* name : {"gpu_job_shared", "gpu_job_static"}) link(built("tests/gpu/gpu_job_fake"), name);
    program("bin/nvidia-smi", kNvidiaSmi);
  }

  void link(const std::string& target, const std::string& name) {
    fs::create_directories(scratch_ / "bundle");
    fs::create_symlink(target, scratch_ / ("bundle/" + name));
  }
  void program(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(scratch_ / name).parent_path());
    fs::remove(scratch_ / name);
    fs::permissions(scratch_.write(name, text), fs::perms::owner_all);
  }

  std::string command(const std::string& checks, const std::string& variables = "") const {
    return "env GPU_CHECK_PYTHON=none " + variables + " " PROFSHIM_SOURCE_DIR "/scripts/gpu_check.sh --only " + checks;
  }
  Outcome check(const std::string& text) {
    Job job = shell(text);
    job.preload = false;
    const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13"),
                      nvml = built("tests/fakes/nvml/libnvidia-ml.so.1");
    job.environment = {{"OUT", scratch_ / "out"},
                       {"TMPDIR", scratch_.path()},
                       {"PATH", (scratch_ / "bin") + ":" + std::getenv("PATH")},
                       {"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/')) + ":" + nvml.substr(0, nvml.rfind('/'))},
                       {"GPU_CHECK_BUNDLE", scratch_ / "bundle"},
                       {"GPU_CHECK_FIGURES_ONLY", "1"},
                       {"GPU_CHECK_LAUNCHES", "500"},
                       {"GPU_CHECK_HIDE_DEVICE", "FAKE_CUDA_NO_DEVICE=1"}};
    return run(job);
  }

  std::string results() const { return text_of_file(scratch_ / "out/RESULTS-section.md"); }
  /// Columns of the results table: 1 result, 2 seconds, 3 key number.
  std::string cell(const std::string& check, int column) const {
    std::istringstream text(results());
    for (std::string line; std::getline(text, line);) {
      if (line.rfind("| " + check + " |", 0) != 0) continue;
      std::istringstream row(line.substr(2));
      std::string field;
      for (int i = 0; i <= column; ++i) std::getline(row, field, '|');
      const auto begin = field.find_first_not_of(' '), end = field.find_last_not_of(' ');
      return begin == std::string::npos ? "" : field.substr(begin, end - begin + 1);
    }
    return "no row";
  }
  std::string result(const std::string& check) const { return cell(check, 1); }
  std::string section(const std::string& check) const {
    const std::string text = results(), head = "### " + check + ":";
    const std::size_t begin = text.find(head);
    return begin == std::string::npos ? "no section" : text.substr(begin, text.find("### ", begin + 4) - begin);
  }
  std::string archived(const std::string& name) {
    return run(shell("tar -tzf " + (scratch_ / ("out/" + name)) + ".tar.gz")).out;
  }

  const ScratchFolder scratch_;
};

TEST_F(GpuCheckOnFakes, ChecksOfProgramsPass) {
  const std::string checks =
      "machine recordings shared static two_windows graphs two_windows_graphs driver late busy run_ahead "
      "enable_latency same_result no_visible_device kernel_steps profiler_api_shared profiler_api_static no_cupti "
      "profile_memory memory_page failed_allocation summary phase_kernel system_gpu host_timing launch_overhead "
      "cost_after_window bound_overhead memory";
  const Outcome done = check(command(checks));

  EXPECT_EQ(done.ending(), "exit 0") << done.err;
  std::istringstream names(checks);
  for (std::string name; names >> name;) EXPECT_EQ(result(name), "ok") << name << "\n" << section(name);
  EXPECT_NE(done.out.find("| run_ahead | ok |"), std::string::npos) << "the table is not printed: " << done.out;
  EXPECT_NE(cell("run_ahead", 3).find("off after"), std::string::npos) << cell("run_ahead", 3);
  EXPECT_EQ(cell("machine", 3), "Fake GPU, 580.0, 80 GiB");
  EXPECT_EQ(section("machine").find(":\n"), std::string::npos) << "there is an empty entry: " << section("machine");
  // These checks accept a wrong trace if the trace reports a problem.
  for (const char* name : {"shared", "two_windows", "graphs"})
    EXPECT_EQ(section(name).find("switched on late"), std::string::npos) << section(name);
  const std::string recordings = archived("recordings");
  for (const char* name : {"mixed/cupti-", "graphs/cupti-", "graphs_as_one/cupti-", "driver/cupti-", "late/cupti-",
                           "allocations/cupti-", "waits/cupti-", "mixed/output.txt", "mixed/trace.json"})
    EXPECT_NE(recordings.find(name), std::string::npos) << name << " of\n" << recordings;
  EXPECT_EQ(files_below(scratch_ / "out"),
            (std::vector<std::string>{"RESULTS-section.md", "evidence.tar.gz", "log.txt", "recordings.tar.gz"}));
}

TEST_F(GpuCheckOnFakes, CostThatRemainsAfterTheWindowsIsFound) {
  const Outcome done = check(command("cost_after_window", "FAKE_CUPTI_COST_NS=30000"));

  EXPECT_EQ(done.ending(), "exit 0") << done.out << done.err;
  EXPECT_NE(results().find("beyond its limit: after 5 windows a launch costs"), std::string::npos) << results();
}

TEST_F(GpuCheckOnFakes, AProgramThatCrashesFailsItsCheckAlone) {
  program("bundle/gpu_job_static", "#!/bin/sh\necho per_step alpha_kernel 1\nkill -SEGV $$\n");
  const Outcome done = check(command("static shared"));

  EXPECT_EQ(done.ending(), "exit 1");
  EXPECT_EQ(result("static"), "FAILED");
  EXPECT_NE(cell("static", 3).find("ended with status 139"), std::string::npos) << cell("static", 3);
  EXPECT_EQ(result("shared"), "ok");
  EXPECT_NE(archived("evidence").find("static/static.out"), std::string::npos);
}

// The trace reports that its joins of kernels and graph launches are uncertain.
TEST_F(GpuCheckOnFakes, GraphsThatCupti13JoinsWronglyAreNoFailure) {
  const Outcome done = check(command("two_windows_graphs", "FAKE_CUPTI_GRAPH_SESSIONS=1"));

  EXPECT_EQ(done.ending(), "exit 0") << done.out << done.err;
  EXPECT_EQ(result("two_windows_graphs"), "ok") << results();
}

TEST_F(GpuCheckOnFakes, ProgramThatDoesNotPrintItsMemoryFailsTheCheck) {
  program("bundle/gpu_job_shared", "#!/bin/sh\n" + built("tests/gpu/gpu_job_fake") + " \"$@\" | grep -v rss_kib\n");
  const Outcome done = check(command("memory"));

  EXPECT_EQ(done.ending(), "exit 1");
  EXPECT_NE(cell("memory", 3).find("did not report its peak memory"), std::string::npos) << cell("memory", 3);
}

TEST_F(GpuCheckOnFakes, HangingCheckIsKilledWithItsChildrenAndTheRestIsSkipped) {
  program("bundle/gpu_job_shared",
          "#!/bin/bash\ntrap '' TERM\nsetsid sleep 600 & echo $! >" + (scratch_ / "child") + "\nwait\nsleep 600\n");
  const Outcome done = check(command("shared late", "GPU_CHECK_SECONDS=6"));

  EXPECT_EQ(done.ending(), "exit 1");
  EXPECT_LT(done.seconds, 600) << "the children ended by themselves";
  EXPECT_EQ(result("shared"), "FAILED");
  EXPECT_NE(cell("shared", 3).find("killed after"), std::string::npos) << cell("shared", 3);
  EXPECT_EQ(result("late"), "skipped");
  EXPECT_EQ(cell("late", 3), "no time left (GPU_CHECK_SECONDS)");
  const int child = std::atoi(text_of_file(scratch_ / "child").c_str());
  ASSERT_GT(child, 1);
  const std::string state = text_of_file("/proc/" + std::to_string(child) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(") Z ") != std::string::npos) << "its child still runs: " << state;
}

TEST_F(GpuCheckOnFakes, AKilledRunKeepsTheResultsSoFar) {
  const Outcome done =
      check("setsid " + command("recordings shared run_ahead") +
            " >/dev/null 2>&1 & for i in $(seq 600); do grep -qs '^### run_ahead' $OUT/RESULTS-section.md && break; "
            "sleep 0.05; done; kill -KILL -- -$!; "
            "for file in $(grep -lzsxF \"OUT=$OUT\" /proc/[0-9]*/environ); do grep -qzs '^GPU_CHECK_MARK=' $file && "
            "kill -KILL $(basename $(dirname $file)); done; true");

  EXPECT_EQ(done.ending(), "exit 0") << done.err;
  EXPECT_EQ(result("recordings"), "ok") << results();
  EXPECT_EQ(result("shared"), "ok");
  EXPECT_EQ(result("run_ahead"), "not run");
  EXPECT_NE(archived("recordings").find("mixed/cupti-"), std::string::npos);
}

TEST_F(GpuCheckOnFakes, TooLargeArchiveLeavesOutItsLargestFilesAndSaysSo) {
  const Outcome done = check(command("recordings", "GPU_CHECK_KEEP_MIB=0"));

  EXPECT_EQ(done.ending(), "exit 0") << done.out;
  EXPECT_NE(done.out.find("files left out of recordings.tar.gz"), std::string::npos) << done.out;
  EXPECT_NE(results().find("files left out of recordings.tar.gz"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch_ / "out/recordings.tar.gz"));
}

TEST_F(GpuCheckOnFakes, WithoutTorchItsChecksAreSkippedAndNeverPassed) {
  const Outcome none = check(command("machine torch_loop torchrun compile_reduce_overhead"));
  EXPECT_EQ(none.ending(), "exit 0") << "the check of the machine passes";
  for (const char* name : {"torch_loop", "torchrun", "compile_reduce_overhead"}) {
    EXPECT_EQ(result(name), "skipped") << name;
    EXPECT_EQ(cell(name, 3), "no Python with a torch that sees a GPU");
  }
  EXPECT_EQ(check(command("torch_loop")).ending(), "exit 1") << "nothing has passed";
}

TEST_F(GpuCheckOnFakes, AnInterpreterThatFailsFailsTheChecks) {
  program("bin/no_python", "#!/bin/sh\necho 'no such module' >&2\nexit 1\n");
  const Outcome done = check(command("recordings_torch torch_loop torchrun torchrun_two compile_reduce_overhead",
                                     "GPU_CHECK_PYTHON='" + (scratch_ / "bin/no_python") + "'"));

  EXPECT_EQ(done.ending(), "exit 1");
  for (const char* name : {"recordings_torch", "torch_loop", "torchrun", "torchrun_two"}) {
    EXPECT_EQ(result(name), "FAILED") << name;
    EXPECT_NE(cell(name, 3).find("no such module"), std::string::npos) << cell(name, 3);
  }
  EXPECT_EQ(cell("compile_reduce_overhead", 3), "there is no triton: no such module");
}

TEST(GpuCheckTorch, TheLoopTakesItsOptions) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string loop = torch_python() + " " PROFSHIM_SOURCE_DIR "/tests/gpu/torch_loop.py 4 --device cpu --small ";
  for (const std::string& options :
       {"--init-for-cuda-graphs 0 --allocations --torch-profile 1 2 " + (scratch / "torch.json"),
        std::string("--collectives")}) {
    Job job = shell(loop + options);
    job.preload = false;
    const Outcome done = run(job);
    EXPECT_EQ(done.ending(), "exit 0") << options << "\n" << done.err;
    EXPECT_NE(done.out.find("step_ns 3 "), std::string::npos) << done.out;
  }
  EXPECT_NE(text_of_file(scratch / "torch.json").find("ProfilerStep#2"), std::string::npos);
}

}  // namespace
}  // namespace profshim::e2e
