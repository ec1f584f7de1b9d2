#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/event.h"
#include "profshim/trace/reader.h"
#include "unit/cli/tool.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

struct Call {
  std::string category, name;
  std::map<std::string, std::string> args;
};
struct Trace {
  FileReport report;
  std::vector<Call> calls;
  std::string problems;
  int copies() const {
    return static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [](const Call& call) { return call.name == "cudaMemcpy"; }));
  }
};

std::string text_of(const ReadEvent::ReadArg& value) {
  return value.text.empty() ? std::to_string(value.integer) : std::string(value.text);
}

Trace read(const std::string& path) {
  Trace trace;
  trace.report = verify_trace(path);
  TraceVisitor visitor;
  visitor.metadata = [&trace](std::string_view key, std::string_view json, bool) {
    if (key == "profshim") trace.problems = json;
  };
  visitor.event = [&trace](const ReadEvent& event) {
    if (!event.category.starts_with("cuda_")) return true;
    Call call{std::string(event.category), std::string(event.name), {}};
    for (const auto& arg : event.args) call.args[std::string(arg.key)] = text_of(arg);
    trace.calls.push_back(std::move(call));
    return true;
  };
  read_trace(path, visitor);
  return trace;
}

class CudaCalls : public ::testing::Test {
 protected:
  std::vector<Trace> record(const std::string& arguments, const std::string& settings, const char* stub = kStub) {
    const std::string traces = folder_.path() + "/traces-" + std::to_string(++recordings_);
    run_ = test::run_shell("env PROFSHIM_FOLDER=" + traces + " PROFSHIM_SET='limits.disk_free=0 " + settings +
                           "' '" PROFSHIM_BUILD_DIR "/tests/apps_cuda/cuda_calls' '" + stub + "' " + arguments);
    EXPECT_EQ(run_.status, 0) << run_.err;
    std::vector<std::string> paths;
    if (std::filesystem::exists(traces)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(traces)) {
        if (entry.path().string().find(".pt.trace.json") != std::string::npos) paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Trace> read_traces;
    for (const std::string& path : paths) {
      read_traces.push_back(read(path));
      const FileReport& report = read_traces.back().report;
      EXPECT_TRUE(report.conforms()) << path << ": " << report.findings.front().message;
    }
    return read_traces;
  }
  std::vector<int> copies(const std::string& arguments, const std::string& settings) {
    std::vector<int> counts;
    for (const Trace& trace : record(arguments, settings)) counts.push_back(trace.copies());
    return counts;
  }
  long printed(const std::string& key) const {
    long value = -1;
    json_leaves(run_.out, [&](std::string_view path, const ReadEvent::ReadArg& arg) {
      if (path == key) value = static_cast<long>(arg.integer);
    });
    return value;
  }

  static constexpr const char* kStub = PROFSHIM_BUILD_DIR "/tests/apps_cuda/libcudart-stub.so.13";
  test::TemporaryFolder folder_;
  test::ToolRun run_;
  int recordings_ = 0;
};

int rows() {
  int count = 0;
  for (int i = 0; i < static_cast<int>(HookId::kCount); ++i)
    count += cuda_call_name(static_cast<HookId>(i)).empty() ? 0 : 1;
  return count;
}

TEST_F(CudaCalls, EveryFunctionIsForwardedAndRecorded) {
  const std::vector<Trace> traces = record("every", "steps.source=none");

  EXPECT_EQ(printed("failed"), 0);
  EXPECT_EQ(printed("stub"), rows() + 2);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(static_cast<int>(traces[0].calls.size()), rows() + 2);
  std::set<std::string> seen, wanted;
  for (const Call& call : traces[0].calls) {
    seen.insert(call.name);
    EXPECT_EQ(call.category, call.name.starts_with("cuda") ? "cuda_runtime" : "cuda_driver") << call.name;
    EXPECT_EQ(call.args.count("correlation") + call.args.count("stream"), 0u) << call.name;
  }
  for (int i = 0; i < static_cast<int>(HookId::kCount); ++i) {
    const std::string_view name = cuda_call_name(static_cast<HookId>(i));
    if (!name.empty()) wanted.emplace(name);
    EXPECT_EQ(name.find("_pt"), std::string_view::npos) << name;
  }
  EXPECT_EQ(seen, wanted);
}

TEST_F(CudaCalls, ArgumentsAndKernelNamesAreNoted) {
  const std::vector<Trace> traces = record("every", "steps.source=none");

  ASSERT_EQ(traces.size(), 1u);
  std::map<std::string, std::set<std::string>> kernels;
  for (const Call& call : traces[0].calls) {
    if (const auto kernel = call.args.find("kernel"); kernel != call.args.end())
      kernels[call.name].insert(kernel->second);
    const bool two_dimensional = call.name.find("2D") != std::string::npos;
    if (call.name.find("Mem") != std::string::npos && call.name.find("3D") == std::string::npos) {
      EXPECT_EQ(call.args.at("bytes"), two_dimensional ? "1024" : "32") << call.name;
    }
    if (call.name.starts_with("cudaMemcpyPeer")) {
      EXPECT_EQ(call.args.at("kind"), "DtoD");
    }
    if (call.name == "cudaMemcpy") {
      EXPECT_EQ(call.args.at("kind"), "HtoD");
    }
    if (call.name.ends_with("Async")) {
      EXPECT_EQ(call.args.count("stream handle"), 1u) << call.name;
    }
    if (call.name == "cudaLaunchKernelExC" || call.name == "cuLaunchKernelEx") {
      EXPECT_EQ(call.args.at("stream handle"), "0x0") << call.name << ": from the configuration";
    }
  }
  // cudaLaunchKernel takes a host function, here exported with the kernel's name. cuLaunchKernel takes a handle.
  EXPECT_EQ(kernels["cudaLaunchKernel"], (std::set<std::string>{"exported_kernel", "_Z9by_kernelPf"}));
  EXPECT_EQ(kernels["cuLaunchKernel"].size(), 1u);
}

TEST_F(CudaCalls, NothingIsRecordedUnlessSymbolHooksAreTheOnlySource) {
  const std::vector<Trace> traces = record("idle", "steps.source=none");

  EXPECT_EQ(printed("failed"), 0);
  EXPECT_EQ(printed("stub"), rows() + 2);
  EXPECT_TRUE(traces.empty());
}

TEST_F(CudaCalls, TheFirstSuccessIsReportedOnce) {
  record("every", "steps.source=none");
  EXPECT_EQ(printed("first_calls"), 1);
}

TEST_F(CudaCalls, AMissingLibraryIsAnErrorOfTheCall) {
  record("every", "steps.source=none", "none");
  EXPECT_EQ(printed("failed"), rows() + 2);
  EXPECT_EQ(printed("first_calls"), 0);
}

const char* const kRanges = "steps.source=cuda_profiler_api";

TEST_F(CudaCalls, ARangeIsAWindowWithoutTheCallsOutside) {
  EXPECT_EQ(copies("ranges cScccPcc", kRanges), (std::vector<int>{3}));
}
TEST_F(CudaCalls, EveryRangeIsAWindowOfItsOwn) {
  EXPECT_EQ(copies("ranges cScPccccSccPcScccP", kRanges), (std::vector<int>{1, 2, 3}));
}
TEST_F(CudaCalls, ProfilerStartAndStopOfTheDriverCount) {
  EXPECT_EQ(copies("ranges cDcccOcScPc", kRanges), (std::vector<int>{3, 1}));
}
TEST_F(CudaCalls, StartInsideARangeAndStopOutsideAreIgnored) {
  EXPECT_EQ(copies("ranges PcScDcSccPcOcP", kRanges), (std::vector<int>{4}));
}
TEST_F(CudaCalls, TheScheduleChoosesRanges) {
  EXPECT_EQ(copies("ranges ScPSccPScccPSccccP", std::string(kRanges) + " schedule.steps=[1,3]"),
            (std::vector<int>{2, 4}));
  EXPECT_EQ(copies("ranges ScPSccPScccPSccccP", std::string(kRanges) + " schedule.skip_first=2"),
            (std::vector<int>{3, 4}));
}
TEST_F(CudaCalls, RangesThatShareAWindowKeepTheCallsBetween) {
  EXPECT_EQ(copies("ranges ScPcccSccPc", std::string(kRanges) + " schedule.active=2"), (std::vector<int>{6}));
}
TEST_F(CudaCalls, ARangeThatIsOpenAtTheEndIsSavedAndIncomplete) {
  const std::vector<Trace> traces = record("ranges cScc", kRanges);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].copies(), 2);
  EXPECT_FALSE(traces[0].report.complete);
}

const char* const kKernels =
    "steps.source=kernel steps.pattern=*adam* schedule.skip_first=0 schedule.wait=0 schedule.warmup=0 "
    "schedule.active=1 schedule.repeat=0";

// A step has four micro-batches and an optimizer of three kernels, with a copy after each launch. Calls before the
// first optimizer are in no step.
TEST_F(CudaCalls, ConsecutiveMatchesAreOneBoundary) {
  const std::string step = "fwd bwd fwd bwd fwd bwd fwd bwd adam_1 adam_2 adam_3 ";
  EXPECT_EQ(copies("kernels " + step + step + step + "fwd", kKernels), (std::vector<int>{11, 11, 4}));
}
TEST_F(CudaCalls, AGraphEndsASeriesOfMatchesAndIsReported) {
  const std::vector<Trace> traces = record("kernels adam graph adam", kKernels);
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_NE(traces[1].problems.find("kernels of CUDA graphs make no steps"), std::string::npos);
}
TEST_F(CudaCalls, NoMatchGivesNoStep) { EXPECT_TRUE(copies("kernels fwd bwd", kKernels).empty()); }

}  // namespace
}  // namespace profshim
