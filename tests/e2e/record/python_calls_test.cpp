// capture.python_calls, with each Python from 3.10 on that this machine has. sys.setprofile() is the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "e2e/consumers/readers.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

const std::string kScript = std::string(PROFSHIM_SOURCE_DIR) + "/tests/apps_python/calls.py";

Job calls_job(const ScratchFolder& scratch, const std::string& python, const std::string& kind,
              const std::string& capture = "") {
  Job job =
      phases_job(scratch, 1, {},
                 "[steps]\nsource = \"collective\"\npattern = \"MPI_Barrier\"\n[schedule]\nskip_first = 2\nwait = "
                 "0\nwarmup = 1\nactive = 2\nrepeat = 1\n[capture]\npython_calls = true\n" +
                     capture);
  job.command = {python, kScript, scratch / "reference.json"};
  if (!kind.empty()) job.command.push_back(kind);
  return job;
}

using Calls = std::map<std::string, const SeenEvent*>;  // by "Python id"

Calls python_calls(const SeenTrace& trace) {
  Calls calls;
  for (const SeenEvent& event : trace.events) {
    if (event.category == "python_function") calls[event.args.at("Python id")] = &event;
  }
  return calls;
}

const SeenEvent* parent_of(const SeenEvent& call, const Calls& calls) {
  const auto parent = call.args.find("Python parent id");
  return parent == call.args.end() ? nullptr : calls.at(parent->second);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_below(const SeenEvent& call, const Calls& calls, const std::string& end) {
  for (const SeenEvent* at = parent_of(call, calls); at != nullptr; at = parent_of(*at, calls)) {
    if (ends_with(at->name, end)) return true;
  }
  return false;
}

using Counts = std::map<std::string, int>;

/// Counts "caller > name" below work().
Counts counts_below_work(const SeenTrace& trace) {
  static const std::regex address(" at 0x[0-9a-f]+");
  const Calls calls = python_calls(trace);
  Counts counts;
  for (const auto& [id, call] : calls) {
    if (is_below(*call, calls, ": work"))
      ++counts[call->args.at("CallFrom") + " > " + std::regex_replace(call->name, address, "")];
  }
  return counts;
}

/// Twice: the window has two steps.
Counts reference(const ScratchFolder& scratch) {
  Counts counts;
  const std::string text = text_of_file(scratch / "reference.json");
  const std::regex pair("\"((?:[^\"\\\\]|\\\\.)*)\": ([0-9]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), pair), end; at != end; ++at) {
    if (!ends_with((*at)[1], ": work")) counts[(*at)[1]] = 2 * std::stoi((*at)[2]);
  }
  return counts;
}

void expect_nested(const SeenTrace& trace) {
  const Calls calls = python_calls(trace);
  for (const auto& [id, call] : calls) {
    const SeenEvent* const parent = parent_of(*call, calls);
    if (parent == nullptr) continue;
    EXPECT_EQ(parent->tid, call->tid);
    EXPECT_LE(parent->ts_ns, call->ts_ns) << call->name;
    EXPECT_GE(parent->ts_ns + parent->duration_ns, call->ts_ns + call->duration_ns) << call->name;
  }
}

SeenTrace only_trace(const ScratchFolder& scratch, const Outcome& outcome) {
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err << outcome.out;
  const auto traces = read_folder(scratch / "traces");
  EXPECT_EQ(traces.size(), 1u) << outcome.err;
  return traces.empty() ? SeenTrace{} : traces[0];
}

TEST(PythonCalls, EqualThoseOfAProfileFunction) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const SeenTrace trace = only_trace(scratch, run(calls_job(scratch, python, "")));

    EXPECT_EQ(counts_below_work(trace), reference(scratch));
    EXPECT_GT(reference(scratch).size(), 40u);
    expect_nested(trace);
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

TEST(PythonCalls, ShowTheFramesThatWereThereWhenTheWindowBegan) {
  const ScratchFolder scratch;

  const SeenTrace trace = only_trace(scratch, run(calls_job(scratch, "/usr/bin/python3", "")));

  const Calls calls = python_calls(trace);
  std::map<std::string, const SeenEvent*> whole;
  for (const auto& [id, call] : calls) {
    if (call->args.count("finished") != 0) whole[call->name.substr(call->name.find(": ") + 2)] = call;
  }
  ASSERT_EQ(whole.size(), 2u);
  ASSERT_EQ(whole.count("<module>") + whole.count("main"), 2u);
  EXPECT_EQ(parent_of(*whole["main"], calls), whole["<module>"]);
  const auto steps = trace.steps();
  ASSERT_EQ(steps.size(), 2u);
  const SeenEvent* const first = trace.calls("ProfilerStep#" + std::to_string(steps[0]))[0];
  const SeenEvent* const last = trace.calls("ProfilerStep#" + std::to_string(steps[1]))[0];
  EXPECT_EQ(whole["main"]->ts_ns, first->ts_ns);
  EXPECT_GE(whole["main"]->ts_ns + whole["main"]->duration_ns, last->ts_ns + last->duration_ns);
}

TEST(PythonCalls, LeaveOutFilesByPath) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder excluded, included;

    const SeenTrace without =
        only_trace(excluded, run(calls_job(excluded, python, "", "python_exclude = [\"*/apps_python/*\"]\n")));
    const SeenTrace with =
        only_trace(included, run(calls_job(included, python, "", "python_include = [\"*/apps_python/*\"]\n")));

    for (const auto& [id, call] : python_calls(without)) {
      EXPECT_EQ(call->name.find("calls.py"), std::string::npos) << call->name;
      EXPECT_EQ(call->args.at("CallFrom").find("calls.py") == std::string::npos || call->name[0] != '<', true);
    }
    Counts wanted;
    for (const auto& [name, count] : reference(included)) {
      const std::string callee = name.substr(name.find(" > ") + 3);
      const bool is_from_here = name.rfind("calls.py", 0) == 0;
      if (callee.rfind("calls.py", 0) == 0 || (callee[0] == '<' && is_from_here)) wanted[name] = count;
    }
    EXPECT_EQ(counts_below_work(with), wanted);
  }
}

TEST(PythonCalls, OfThreadsAreOnTheirTracks) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const SeenTrace trace = only_trace(scratch, run(calls_job(scratch, python, "threads")));

    const Calls calls = python_calls(trace);
    std::map<std::int64_t, int> recursions;  // by thread
    for (const auto& [id, call] : calls) {
      if (is_below(*call, calls, ": _bootstrap") && ends_with(call->name, ": recurse")) ++recursions[call->tid];
    }
    expect_nested(trace);
    // Python 3.10 and 3.11 take up a new thread only after a while.
    const bool has_monitoring = python.find("3.12") != std::string::npos || python.find("3.13") != std::string::npos;
    if (!has_monitoring) continue;
    EXPECT_EQ(recursions.size(), 6u);
    for (const auto& [tid, count] : recursions) EXPECT_EQ(count, 6);
  }
}

TEST(PythonCalls, LeaveAProfileFunctionOfTheJobAlone) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const Outcome outcome = run(calls_job(scratch, python, "profile"));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err << outcome.out;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u);
    const bool says_so = traces[0].property("problems").find("a profile function of their own") != std::string::npos;
    EXPECT_NE(says_so, !python_calls(traces[0]).empty());
  }
}

TEST(PythonCalls, DoNotHarmChildren) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const SeenTrace trace = only_trace(scratch, run(calls_job(scratch, python, "fork")));

    EXPECT_EQ(counts_below_work(trace), reference(scratch));
  }
}

constexpr const char* kModules = R"(
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
    def forward(self, x):
        return self.b(self.a(x).relu())
model = nn.Sequential(Block(), nn.Dropout(), Block())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
for step in range(6):
    with torch.profiler.record_function(f"step {step}"):
        train()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as profiler:
    train()
    train()
profiler.export_chrome_trace("torch.json")
)";

SeenTrace trace_of_modules(const ScratchFolder& scratch) {
  return only_trace(scratch, run(torch_lines(scratch, kModules,
                                             "version = 1\n[steps]\nsource = \"torch\"\npattern = \"step "
                                             "*\"\n[schedule]\nskip_first = 2\nwait = 0\nwarmup = 1\nactive = "
                                             "2\nrepeat = 1\n[capture]\npython_calls = true\n[output]\nfolder = "
                                             "\"traces\"\ngzip = false\n")));
}

Counts names_below_train(const SeenTrace& seen) {
  static const std::regex address(" at 0x[0-9a-f]+");
  const Calls calls = python_calls(seen);
  Counts counts;
  for (const auto& [id, call] : calls) {
    if (is_below(*call, calls, ": train")) ++counts[std::regex_replace(call->name, address, "")];
  }
  return counts;
}

TEST(TorchCalls, NumberTheModules) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  Counts modules;
  for (const auto& [name, count] : names_below_train(trace_of_modules(scratch))) {
    if (name.rfind("nn.Module", 0) == 0) modules[name] = count;
  }

  EXPECT_EQ(modules, (Counts{{"nn.Module: Sequential_0", 2},
                             {"nn.Module: Block_0", 2},
                             {"nn.Module: Block_1", 2},
                             {"nn.Module: Dropout_0", 2},
                             {"nn.Module: Linear_0", 2},
                             {"nn.Module: Linear_1", 2},
                             {"nn.Module: Linear_2", 2},
                             {"nn.Module: Linear_3", 2}}));
}

TEST(TorchCalls, AreReadByTheViewersOfTraces) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const SeenTrace trace = trace_of_modules(scratch);
  const std::string folder = std::filesystem::path(trace.path).parent_path();

  const Outcome board = ask_reader(
      "load_with_tb.py",
      {folder, "1", "--modules", "Sequential_0(Block_0(Linear_0 Linear_1) Dropout_0 Block_1(Linear_2 Linear_3))"});
  const Outcome hta =
      ask_reader("load_with_hta.py", {folder, "1", "--operators", "nn.Module: Linear_3,nn.Module: Block_1"});

  EXPECT_EQ(board.ending(), "exit 0") << board.out << board.err;
  EXPECT_EQ(hta.ending(), "exit 0") << hta.out << hta.err;
}

// Debian's PyTorch 1.13 is built without Kineto.
TEST(TorchCalls, EqualThoseOfPyTorch) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;

  const SeenTrace trace = trace_of_modules(scratch);

  EXPECT_EQ(names_below_train(trace), names_below_train(read_seen(scratch / "torch.json")));
}

}  // namespace
}  // namespace profshim::e2e
