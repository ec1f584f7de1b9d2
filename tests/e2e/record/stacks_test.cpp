#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

const std::string kPython = "/usr/bin/python3";
const std::string kSource = PROFSHIM_SOURCE_DIR;

Job stacks_job(const ScratchFolder& scratch, const std::string& keys) {
  return torch_job(scratch, Launch::kAlone, "stacks.py", "steps.source=none " + keys);
}

const std::string& printed_without_us() {
  static const std::string out = [] {
    const ScratchFolder scratch;
    Job job = stacks_job(scratch, "");
    job.preload = false;
    const Outcome outcome = run(job);
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_EQ(outcome.out.find("caught\nunwinder: "), 0u) << outcome.out;
    EXPECT_EQ(outcome.out.find("libunwind"), std::string::npos) << outcome.out;
    return outcome.out;
  }();
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ';');) parts.push_back(part);
  return parts;
}

std::vector<std::string> frames(const SeenEvent& event, const std::string& arg = "Call stack") {
  const auto at = event.args.find(arg);
  return at == event.args.end() ? std::vector<std::string>{} : split(at->second);
}

/// "/somewhere/stacks.py(28): main" becomes "main(28)".
std::string short_frames(const SeenEvent& event) {
  std::string text;
  for (const std::string& frame : frames(event)) {
    const std::size_t file = frame.rfind('/') + 1, line = frame.find('('), name = frame.find("): ");
    if (frame.compare(file, 9, "stacks.py") != 0 || name == std::string::npos) continue;
    text += (text.empty() ? "" : " < ") + frame.substr(name + 3) + frame.substr(line, name + 1 - line);
  }
  return text;
}

SeenTrace only_trace(const ScratchFolder& scratch) {
  auto traces = read_folder(scratch / "traces");
  EXPECT_EQ(traces.size(), 1u);
  return traces.empty() ? SeenTrace{} : traces[0];
}

struct WithStacks {
  ScratchFolder scratch;
  Outcome outcome;
  SeenTrace trace;
};

/// A job with stacks, for all tests that only read what it leaves.
const WithStacks& recorded_with_stacks() {
  static const WithStacks* const recorded = [] {
    static WithStacks made;
    made.outcome = run(stacks_job(made.scratch, "capture.with_stack=true output.export=['chrome_trace','stacks']"));
    EXPECT_EQ(made.outcome.ending(), "exit 0") << made.outcome.err;
    made.trace = only_trace(made.scratch);
    return &made;
  }();
  return *recorded;
}

RUNS_IN_ONE_PROCESS(TorchStacks);

TEST(TorchStacks, NameFunctionsAndLinesOfTheScript) {
  NEEDS_TORCH(1);

  const auto& [scratch, outcome, trace] = recorded_with_stacks();

  EXPECT_EQ(outcome.out, printed_without_us());
  ASSERT_FALSE(trace.calls("aten::add").empty());
  EXPECT_EQ(short_frames(*trace.calls("aten::add")[0]),
            "Model.forward(10) < recurse(16) < recurse(15) < recurse(15) < values(20) < main(29) < <module>(54)");
  EXPECT_EQ(short_frames(*trace.calls("aten::zeros")[0]), "main(28) < <module>(54)");
  EXPECT_EQ(short_frames(*trace.calls("aten::mul")[0]), "main(30) < <module>(54)");
  EXPECT_EQ(short_frames(*trace.calls("aten::neg")[0]), "on_a_thread(24)");
  EXPECT_EQ(short_frames(*trace.calls("my range")[0]), "main(34) < <module>(54)");
  for (const SeenEvent& event : trace.events) EXPECT_EQ(event.args.count("Native stack"), 0u);
  EXPECT_EQ(profshim({"verify", trace.path}).ending(), "exit 0");
}

TEST(TorchStacks, ShowTheModules) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "infer.py",
                                        "steps.source=none capture.with_stack=true capture.with_modules=true"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const SeenTrace trace = only_trace(scratch);
  ASSERT_EQ(trace.calls("aten::linear").size(), 15u);
  for (const SeenEvent* linear : trace.calls("aten::linear"))
    EXPECT_EQ(linear->args.at("Module Hierarchy"), "Sequential.Linear");
  for (const SeenEvent* ones : trace.calls("aten::ones")) EXPECT_EQ(ones->args.count("Module Hierarchy"), 0u);
  EXPECT_EQ(trace.metadata.at("with_modules"), "1");
}

TEST(TorchStacks, AreNotTakenByDefault) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(stacks_job(scratch, ""));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, printed_without_us());
  for (const SeenEvent& event : only_trace(scratch).events) EXPECT_EQ(event.args.count("Call stack"), 0u);
}

// The job's C++ exceptions must still use libgcc's unwinder.
TEST(TorchStacks, NativeStacksNameFunctionsAndLeaveExceptionsAlone) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(stacks_job(scratch, "capture.native_stack=true"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, printed_without_us());
  const SeenTrace trace = only_trace(scratch);
  ASSERT_FALSE(trace.calls("aten::add").empty());
  const auto stack = frames(*trace.calls("aten::add")[0]);
  const auto has = [&stack](const std::string& part) {
    return std::any_of(stack.begin(), stack.end(), [&](const auto& f) { return f.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("at::_ops::add_Tensor::call(")) << trace.calls("aten::add")[0]->args.at("Call stack");
  EXPECT_TRUE(has("PyEval_EvalCode"));
  EXPECT_TRUE(has("+0x")) << "a frame without a symbol shows its file";
  EXPECT_FALSE(has("profshim"));
}

TEST(TorchStacks, CanBeNativeAndPython) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome =
      run(stacks_job(scratch, "capture.with_stack=true capture.native_stack=true capture.stack_depth=3"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const SeenTrace trace = only_trace(scratch);
  ASSERT_FALSE(trace.calls("aten::add").empty());
  EXPECT_EQ(short_frames(*trace.calls("aten::add")[0]), "Model.forward(10) < recurse(16) < recurse(15)");
  EXPECT_EQ(frames(*trace.calls("aten::add")[0], "Native stack").size(), 3u);
}

TEST(TorchStacks, AreTakenOfEveryNthOperatorOfAThread) {
  NEEDS_TORCH(1);
  const auto operators = [](const SeenTrace& trace) {
    std::size_t all = 0, have = 0;
    for (const SeenEvent& event : trace.events) {
      if (event.category != "cpu_op") continue;
      ++all;
      have += event.args.count("Call stack");
    }
    return std::pair{all, have};
  };
  const auto of_every = [&](const std::string& number) {
    const ScratchFolder scratch;
    run(stacks_job(scratch, "capture.with_stack=true capture.stack_every=" + number));
    return operators(only_trace(scratch));
  };

  const auto [all, every] = operators(recorded_with_stacks().trace);
  const auto [still_all, some] = of_every("4");
  const auto [all_again, none] = of_every("0");

  EXPECT_EQ(every, all);
  EXPECT_GE(some, still_all / 4);
  EXPECT_LE(some, still_all / 4 + 3);
  EXPECT_EQ(none, 0u) << "of " << all_again;
}

TEST(TorchStacks, OfAKilledJobKeepTheirNames) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = stacks_job(scratch, "capture.with_stack=true capture.native_stack=true");
  job.command = {torch_python(), "-c", "import os, torch\ntorch.zeros(3)\nos.kill(os.getpid(), 9)"};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "signal 9") << outcome.err;
  EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
  const SeenTrace trace = only_trace(scratch);
  ASSERT_FALSE(trace.calls("aten::zeros").empty());
  EXPECT_EQ(trace.calls("aten::zeros")[0]->args.at("Call stack"), "<string>(2): <module>");
  const auto native = frames(*trace.calls("aten::zeros")[0], "Native stack");
  EXPECT_NE(std::find(native.begin(), native.end(), "PyEval_EvalCode"), native.end());
}

// The files have the format of torch.profiler's export_stacks().
TEST(TorchStacks, AreExportedForFlameGraphs) {
  NEEDS_TORCH(1);

  const ScratchFolder& scratch = recorded_with_stacks().scratch;

  const std::string script = kSource + "/tests/apps_torch/stacks.py";
  const std::string text = text_of_file(scratch / "traces/step0/rank0.0.stacks.txt");
  const std::size_t line = text.find(script + "(54):_<module>;" + script + "(28):_main ");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_GT(std::atoi(text.c_str() + text.find(' ', line)), 0);
  EXPECT_NE(text_of_file(scratch / "traces/manifest-rank0.json").find("\"stacks\": \"step0/rank0.0.stacks.txt\""),
            std::string::npos);
}

Job mpi_job(const ScratchFolder& scratch, const std::string& keys) {
  Job job = mpirun(Mpi::kOpenMpi, 2, {kPython, kSource + "/tests/apps/mpi/stacks.py"});
  const std::string spec = record_all_spec(scratch / "traces") + "[capture]\n" + keys;
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  return job;
}

/// mpi4py calls `name`_c, the variant with large counts, if the MPI has it.
std::vector<const SeenEvent*> calls_of(const SeenTrace& trace, const std::string& name) {
  const auto calls = trace.calls(name);
  return calls.empty() ? trace.calls(name + "_c") : calls;
}

bool mpi4py_is_here() {
  return run({.command = {kPython, "-c", "import mpi4py"}, .preload = false}).ending() == "exit 0";
}

TEST(MpiStacks, OfPythonNameFunctionsAndLines) {
  if (!mpi4py_is_here()) GTEST_SKIP() << "no mpi4py";
  const ScratchFolder scratch;

  const Outcome outcome = run(mpi_job(scratch, "with_stack = true\n"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u);
  for (const SeenTrace& trace : traces) {
    ASSERT_EQ(calls_of(trace, "MPI_Bcast").size(), 3u);
    for (const SeenEvent* call : calls_of(trace, "MPI_Bcast"))
      EXPECT_EQ(short_frames(*call), "exchange(7) < main(16) < <module>(19)");
    for (const SeenEvent* call : calls_of(trace, "MPI_Send"))
      EXPECT_EQ(short_frames(*call), "exchange(9) < main(16) < <module>(19)");
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

TEST(MpiStacks, OpenLibunwindOnlyForNativeOnes) {
  if (!mpi4py_is_here()) GTEST_SKIP() << "no mpi4py";
  const auto printed = [](const std::string& keys) {
    const ScratchFolder scratch;
    return run(mpi_job(scratch, keys)).out;
  };
  const std::string no = "libunwind is mapped: False\n", yes = "libunwind is mapped: True\n";

  EXPECT_EQ(printed(""), no);
  EXPECT_EQ(printed("with_stack = true\n"), no);
  EXPECT_EQ(printed("native_stack = true\n"), yes);
}

TEST(MpiStacks, OfCProgramsAreNative) {
  for (const Mpi mpi : installed_mpis()) {
    SCOPED_TRACE(to_string(mpi));
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps/" + to_string(mpi) + "/allreduce_loop")});
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") +
                                                                                 "[capture]\nnative_stack = true\n"));

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 2u) << outcome.err;
    for (const SeenTrace& trace : traces) {
      ASSERT_FALSE(calls_of(trace, "MPI_Allreduce").empty());
      for (const SeenEvent* call : calls_of(trace, "MPI_Allreduce")) {
        ASSERT_FALSE(frames(*call).empty());
        EXPECT_EQ(frames(*call)[0], "main");
      }
    }
  }
}

TEST(MpiStacks, ReportAProblemIfPythonStacksAreWantedWithoutPython) {
  const ScratchFolder scratch;
  const Mpi mpi = installed_mpis()[0];
  Job job = mpirun(mpi, 1, {built("tests/apps/" + to_string(mpi) + "/allreduce_loop")});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") +
                                                                               "[capture]\nwith_stack = true\n"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const SeenTrace trace = only_trace(scratch);
  EXPECT_NE(
      trace.property("problems").find("Python stacks are not recorded: there is no Python interpreter in this process"),
      std::string::npos)
      << trace.property("problems");
  EXPECT_FALSE(calls_of(trace, "MPI_Allreduce").empty());
}

}  // namespace
}  // namespace profshim::e2e
