// `profshim init` writes a spec, and a run with that spec leaves whole steps.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

/// Starts the tool with the words of `command` and its environment.
Job tool_job(const ScratchFolder& scratch, std::vector<std::string> words, const Job& command) {
  words.insert(words.begin(), tool_path());
  if (!command.command.empty()) words.emplace_back("--");
  words.insert(words.end(), command.command.begin(), command.command.end());
  Job job{.command = words, .environment = command.environment, .folder = scratch.path(), .preload = false};
  job.environment.emplace_back("TMPDIR", scratch.path());
  return job;
}

Outcome init(const ScratchFolder& scratch, std::vector<std::string> options, const Job& command) {
  options.insert(options.begin(), "init");
  return run(tool_job(scratch, options, command));
}

Job heat(const std::string& steps, const std::string& cells = "64") {
  return mpirun(Mpi::kOpenMpi, 2, {built("demo/heat"), steps, cells});
}

void expect_no_leftovers(const ScratchFolder& scratch) {
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    EXPECT_EQ(entry.path().filename().string().find("profshim-init-"), std::string::npos) << entry.path();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Returns the size of a window's trace that the spec says, for sizes in KiB.
double said_bytes(const std::string& spec) {
  const std::size_t at = spec.find(", about ");
  EXPECT_NE(at, std::string::npos) << spec;
  return at == std::string::npos ? 0 : 1024 * std::strtod(spec.c_str() + at + 8, nullptr);
}

/// Runs `command` with scratch / "s.toml" and expects whole steps, and about the size that the spec says, in the traces
/// of `ranks` ranks.
void expect_whole_steps_with_spec(const ScratchFolder& scratch, const Job& command, std::size_t ranks) {
  const Outcome check = profshim({"check", scratch / "s.toml"});
  EXPECT_EQ(check.ending() + check.err, "exit 0");
  const Outcome outcome =
      run(tool_job(scratch, {"run", "-s", scratch / "s.toml", "--folder", scratch / "traces"}, command));
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::vector<SeenTrace> traces = read_folder(scratch / "traces");
  EXPECT_EQ(traces.size(), ranks) << text_of_file(scratch / "s.toml") << outcome.err;
  for (const SeenTrace& trace : traces) {
    EXPECT_EQ(trace.property("complete"), "true");
    EXPECT_GE(trace.steps().size(), 3u);
    const double bytes = static_cast<double>(std::filesystem::file_size(trace.path));
    const double said = said_bytes(text_of_file(scratch / "s.toml"));
    EXPECT_TRUE(said > bytes / 4 && said < bytes * 4) << said << " bytes are said, the trace has " << bytes;
    for (const SeenEvent& event : trace.events) EXPECT_FALSE(event.args.contains("finished")) << event.name;
  }
}

TEST(Init, TheSpecOfAStencilRecordsWholeSteps) {
  const ScratchFolder scratch;
  const Job command = heat("200", "256");

  const Outcome outcome = init(scratch, {"-o", "s.toml"}, command);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(has(outcome.err, "the command ended: exit 0; 2 traces")) << outcome.err;
  const std::string spec = text_of_file(scratch / "s.toml");
  EXPECT_TRUE(has(spec, "MPI; 2 ranks\n")) << spec;
  expect_whole_steps_with_spec(scratch, command, 2);
  expect_no_leftovers(scratch);
}

/// Much of its time passes before its loop.
TEST(Init, TheSpecOfAPythonJobRecordsWholeSteps) {
  const ScratchFolder scratch;
  const std::string script = scratch.write("job.py",
                                           "from mpi4py import MPI\nimport time\ntime.sleep(1)\nfor i in range(30):\n"
                                           "  MPI.COMM_WORLD.Barrier()\n  time.sleep(0.002)\n");
  const Job command = mpirun(Mpi::kOpenMpi, 2, {"/usr/bin/python3", script});

  const Outcome outcome = init(scratch, {"-o", "s.toml"}, command);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_TRUE(has(text_of_file(scratch / "s.toml"), "launcher mpirun")) << text_of_file(scratch / "s.toml");
  expect_whole_steps_with_spec(scratch, command, 2);
}

TEST(Init, AJobThatGoesOnIsStopped) {
  const ScratchFolder scratch;
  const Job command = heat("100000000", "512");

  const Outcome outcome = init(scratch, {"--seconds", "0.5"}, command);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_TRUE(has(outcome.err, "the command ended: stopped after ")) << outcome.err;
  EXPECT_TRUE(has(outcome.out, ", Open MPI; 2 ranks\n")) << outcome.out;
  // A busy machine makes fewer steps in that time, and then fewer are left out.
  EXPECT_TRUE(has(outcome.out, "# Steps: iteration *; ")) << outcome.out;
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex("\nskip_first = [1-9][0-9]?\n"))) << outcome.out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string line = text_of_file(entry.path() / "cmdline");
    EXPECT_FALSE(line.find("100000000") != std::string::npos && line.find("heat") != std::string::npos) << entry.path();
  }
  expect_no_leftovers(scratch);
}

class TraceText {
 public:
  void add(const std::string& category, const std::string& name) {
    events_ += std::string(events_.empty() ? "" : ",\n") + R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" +
               name + R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(at_us_ += 100) + R"(, "dur": 90})";
  }
  std::string text() const {
    return R"({"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": [)" + events_ + "]}";
  }

 private:
  std::string events_;
  int at_us_ = 0;
};

TEST(Init, LooksAtATraceOfAnotherTool) {
  const ScratchFolder scratch;
  TraceText trace;
  for (int i = 0; i < 40; ++i) {
    trace.add("cpu_op", "aten::linear");
    trace.add("user_annotation", "Optimizer.step#Adam.step");
  }
  scratch.write("worker.pt.trace.json", trace.text());

  const Outcome outcome = init(scratch, {"worker.pt.trace.json"}, {});
  const Outcome missing = init(scratch, {"no.pt.trace.json"}, {});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_TRUE(has(outcome.out, "PyTorch; 2 ranks\n")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "pattern = \"Optimizer.step#Adam.step\"\nedge = \"end\"")) << outcome.out;
  EXPECT_EQ(missing.ending(), "exit 2");
  EXPECT_EQ(missing.err, "profshim: no.pt.trace.json: no such file or folder\n");
}

// PyTorch asks for devices on machines without a GPU, too.
TEST(Init, CudaIsSeenOnceItWorks) {
  const ScratchFolder scratch;
  for (const char* call : {"cudaGetDeviceCount", "cudaLaunchKernel"}) {
    TraceText trace;
    for (int i = 0; i < 40; ++i) {
      trace.add("cuda_runtime", call);
      trace.add("user_annotation", "Optimizer.step#Adam.step");
    }
    scratch.write(std::string(call) + ".pt.trace.json", trace.text());
  }

  EXPECT_FALSE(has(init(scratch, {"cudaGetDeviceCount.pt.trace.json"}, {}).out, "CUDA"));
  EXPECT_TRUE(has(init(scratch, {"cudaLaunchKernel.pt.trace.json"}, {}).out, ", CUDA"));
}

TEST(Init, AnEpochIsNoStep) {
  const ScratchFolder scratch;
  TraceText trace;
  const auto batch = [&] {
    trace.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    for (const char* name : {"aten::linear", "aten::relu", "aten::mse_loss"}) trace.add("cpu_op", name);
  };
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int i = 0; i < 10; ++i) {
      batch();
      trace.add("user_annotation", "Optimizer.step#Adam.step");
      if (i > 0) continue;
      for (const char* name : {"aten::norm", "aten::stack", "aten::mean", "aten::max", "aten::std", "aten::cat"})
        trace.add("cpu_op", name);
    }
    for (int i = 0; i < 10; ++i) {
      batch();
      trace.add("cpu_op", "aten::item");
    }
  }
  scratch.write("epochs.pt.trace.json", trace.text());

  const Outcome outcome = init(scratch, {"epochs.pt.trace.json"}, {});

  EXPECT_TRUE(has(outcome.out, "# Steps: Optimizer.step#Adam.step; 60 steps seen")) << outcome.out;
}

TEST(Init, AProgramWithoutStepsGetsASpecThatSaysSo) {
  const ScratchFolder scratch;

  const Outcome outcome = init(scratch, {"-o", "s.toml"}, {.command = {"/bin/sh", "-c", "echo hello"}});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(has(outcome.err, "hello\n")) << outcome.err;
  EXPECT_TRUE(has(text_of_file(scratch / "s.toml"), "# Nothing was recorded")) << text_of_file(scratch / "s.toml");
  EXPECT_EQ(profshim({"check", scratch / "s.toml"}).err, "");
}

TEST(Init, ACommandThatCannotBeUsedGivesOneLine) {
  const ScratchFolder scratch;

  const Outcome missing = init(scratch, {}, {.command = {"no-such-program"}});
  const Outcome failing = init(scratch, {}, {.command = {"/bin/sh", "-c", "exit 3"}});
  const Outcome neither = init(scratch, {}, {});

  EXPECT_EQ(missing.ending(), "exit 2");
  EXPECT_EQ(missing.err, "profshim init: runs no-such-program\nprofshim: no-such-program: No such file or directory\n");
  EXPECT_EQ(failing.ending(), "exit 2");
  EXPECT_TRUE(failing.err.ends_with("profshim: the command failed (exit 3) before anything was recorded\n"))
      << failing.err;
  EXPECT_EQ(neither.ending(), "exit 2");
  EXPECT_EQ(missing.out + failing.out + neither.out, "");
  expect_no_leftovers(scratch);
}

TEST(Init, ReplacesAFileOnlyWithForce) {
  const ScratchFolder scratch;
  const std::string file = scratch.write("s.toml", "mine");

  const Outcome refused = init(scratch, {"-o", file}, {.command = {"/bin/sh", "-c", "echo ran"}});
  const std::string kept = text_of_file(file);
  const Outcome forced = init(scratch, {"-f", "-o", file}, {.command = {"/bin/true"}});

  EXPECT_EQ(refused.ending(), "exit 2");
  EXPECT_EQ(refused.err, "profshim: " + file + " exists; --force replaces it\n");
  EXPECT_EQ(kept, "mine");
  EXPECT_EQ(forced.ending(), "exit 0") << forced.err;
  EXPECT_TRUE(has(text_of_file(file), "version = 1"));
}

}  // namespace
}  // namespace profshim::e2e
