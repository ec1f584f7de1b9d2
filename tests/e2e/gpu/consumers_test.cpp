#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "e2e/consumers/readers.h"
#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kRanks = 4, kSteps = 7, kFirst = 2, kLast = 4;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 ? plain.get() : name;
}

std::string kind_of(const Ran& ran) {
  if (ran.kind != "kernel") return "memory";
  return ran.name.find("nccl") == std::string::npos ? "compute" : "communication";
}

class FakeJob : public testing::Test {
 protected:
  void SetUp() override { NEEDS_NVTX(); }
  static void SetUpTestSuite() {
    NEEDS_NVTX();
    scratch_ = new ScratchFolder;
    run_job("traces", "");
    write_timeline();
  }

  static void run_job(const std::string& folder, const std::string& capture) {
    const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
    Job job = shell("for r in 0 1 2 3; do RANK=$r FAKE_CUDA_TIMELINE=$PWD/" + folder + ".t$r " +
                    built("tests/apps_gpu/ddp") + " " + std::to_string(kSteps) + " & done; wait");
    job.folder = scratch_->path();
    job.environment = {
        {"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
        {"WORLD_SIZE", std::to_string(kRanks)},
        {"DDP_ID_FILE", *scratch_ / (folder + ".id")},
        {"FAKE_CUDA_DEVICES", std::to_string(kRanks)},
        {"FAKE_CUDA_KERNELS", "forward=700000,backward=1100000,adam=500000"},
        {"FAKE_NCCL_MBPS", "1000"},
        {"PROFSHIM_SPEC",
         scratch_->write(
             folder + ".toml",
             "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"nvtx\"\npattern = \"train_step\"\n"
             "[schedule]\nsteps = [\"2-4\"]\n[capture]\n" +
                 capture + "[output]\ngzip = false\nfolder = \"" + (*scratch_ / folder) + "\"\n")}};
    // On a busy machine, CUPTI may be enabled only after the window's begin.
    bool whole = false;
    for (int attempt = 0; attempt < 5 && !whole && !HasFailure(); ++attempt) {
      std::filesystem::remove_all(*scratch_ / folder);
      std::filesystem::remove(*scratch_ / (folder + ".id"));
      const Outcome outcome = run(job);
      EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
      const auto traces = read_folder(window(folder));
      EXPECT_EQ(traces.size(), std::size_t{kRanks}) << outcome.err;
      whole = std::all_of(traces.begin(), traces.end(), is_whole);
      for (const SeenTrace& trace : traces)
        EXPECT_TRUE(is_whole(trace) || trace.property("problems").find("switched on after") != std::string::npos)
            << trace.metadata.at("profshim");
    }
    EXPECT_TRUE(whole);
  }

  static bool is_whole(const SeenTrace& trace) {
    return of_category(trace, "kernel").size() == 3 * 13 && of_category(trace, "cuda_driver").size() == 3 * 4 &&
           of_category(trace, "cuda_runtime").size() == 3 * 21;
  }
  static void TearDownTestSuite() { delete std::exchange(scratch_, nullptr); }

  static std::string window(const std::string& folder = "traces") {
    return (*scratch_ / folder) + "/step" + std::to_string(kFirst);
  }

  /// Each step begins with its only copy.
  static std::vector<Ran> work_of_steps(int rank) {
    std::vector<Ran> all = read_timeline(*scratch_ / ("traces.t" + std::to_string(rank)));
    std::sort(all.begin(), all.end(), [](const Ran& a, const Ran& b) { return a.correlation < b.correlation; });
    int step = -1;
    std::vector<Ran> wanted;
    for (const Ran& ran : all) {
      step += ran.kind == "memcpy";
      if (step >= kFirst && step <= kLast) wanted.push_back(ran);
    }
    return wanted;
  }

  static void write_timeline() {
    std::ofstream file(window() + "/timeline.jsonl");
    file.precision(3);
    file << std::fixed;
    std::int64_t zero = 0;  // subtracted, as doubles do not hold nanoseconds since the epoch
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const Ran& ran : work_of_steps(rank)) {
        if (zero == 0) zero = ran.called_ns;
        const auto us = [zero](std::int64_t ns) { return static_cast<double>(ns - zero) / 1000; };
        file << "{\"rank\": " << rank << ", \"stream\": " << ran.stream << ", \"kind\": \"" << kind_of(ran)
             << "\", \"name\": \"" << (ran.kind == "memcpy" ? "Memcpy HtoD (Pinned -> Device)" : demangled(ran.name))
             << "\", \"launched_us\": " << us(ran.called_ns) << ", \"begin_us\": " << us(ran.start_ns)
             << ", \"end_us\": "
             << us(ran.end_ns)
             // HTA does not know the driver call by which NCCL launches.
             << (kind_of(ran) == "communication" ? ", \"counted\": false}\n" : "}\n");
      }
    }
  }

  static bool readers_are_installed() {
    return std::filesystem::exists(PROFSHIM_SOURCE_DIR "/build/venv-consumers/bin/python");
  }

  static inline ScratchFolder* scratch_ = nullptr;
};

#define NEEDS_READERS() \
  if (!readers_are_installed()) GTEST_SKIP() << "no Python for the readers: scripts/consumers_venv.sh"

#define NEEDS_TORCHS_RULES()                                                                                    \
  if (!std::filesystem::exists(PROFSHIM_SOURCE_DIR "/build/venv-consumers/torch/profiler/_trace_validator.py")) \
  GTEST_SKIP() << "PyTorch's rules for traces are not there: scripts/consumers_venv.sh"

TEST_F(FakeJob, HtaReportsTheNumbersOfTheDevices) {
  NEEDS_READERS();
  const Outcome outcome =
      ask_reader("gpu_numbers_with_hta.py", {window(), "--tolerance", "50", "--relative", "0.02", "--apart", "100"});
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_F(FakeJob, TracesFollowPyTorchsRules) {
  NEEDS_TORCHS_RULES();
  const Outcome outcome = ask_reader("validate_with_torch.py", traces_below(window()));
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

// PyTorch's own tests also omit the rule that no kernel runs when the host begins to wait for the kernel's stream.
TEST_F(FakeJob, TracesWithSynchronizationsFollowPyTorchsRules) {
  NEEDS_TORCHS_RULES();
  run_job("synchronised", "cuda_sync = true\n");
  std::vector<std::string> arguments = traces_below(window("synchronised"));
  arguments.insert(arguments.end(), {"--without", "_check_stream_sync_overlap"});

  const Outcome outcome = ask_reader("validate_with_torch.py", arguments);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_F(FakeJob, SynchronizationsLieOnTheirDevice) {
  run_job("placed", "cuda_sync = true\n");

  for (const SeenTrace& trace : read_folder(window("placed"))) {
    std::map<std::string, int> kinds;
    for (const SeenEvent* sync : of_category(trace, "cuda_sync")) {
      ++kinds[sync->name];
      EXPECT_EQ(sync->pid, trace.rank()) << sync->name;
      EXPECT_EQ(sync->args.at("device"), std::to_string(trace.rank()));
    }
    EXPECT_EQ(kinds, (std::map<std::string, int>{{"Stream Sync", 3}, {"Stream Wait Event", 15}}));
  }
}

TEST_F(FakeJob, StepIsShownOnTheStreamsThatItUsed) {
  for (const SeenTrace& trace : read_folder(window())) {
    const std::vector<Ran> work = work_of_steps(trace.rank());
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> spans;
    for (const SeenEvent* span : of_category(trace, "gpu_user_annotation")) {
      EXPECT_EQ(span->pid, trace.rank());
      spans[span->name + " " + std::to_string(span->tid)].emplace_back(span->ts_ns, span->duration_ns);
    }
    EXPECT_EQ(spans["train_step 13"].size(), 3u);
    EXPECT_EQ(spans["train_step 14"].size(), 3u);
    EXPECT_EQ(spans["nccl:all_reduce 14"].size(), 12u);
    EXPECT_EQ(spans.size(), 3u);
    for (const int stream : {13, 14}) {
      std::int64_t begin = 0, end = 0;
      for (std::size_t i = 0; i < 14; ++i) {
        if (work[i].stream != stream) continue;
        begin = begin == 0 ? work[i].start_ns : std::min(begin, work[i].start_ns);
        end = std::max(end, work[i].end_ns);
      }
      EXPECT_NEAR(static_cast<double>(spans["train_step " + std::to_string(stream)].at(0).second),
                  static_cast<double>(end - begin), 2000 + 0.01 * static_cast<double>(end - begin));
    }
  }
}

TEST_F(FakeJob, TracesPassVerify) {
  for (const std::string& path : traces_below(window())) {
    const Outcome verdict = profshim({"verify", path});
    EXPECT_EQ(verdict.ending(), "exit 0") << path << "\n" << verdict.out << verdict.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
