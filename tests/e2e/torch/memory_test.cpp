#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

Job training(const ScratchFolder& scratch, const std::string& arguments, bool profile_memory = true) {
  return without_compiler(torch_job(scratch, Launch::kAlone, "memory.py " + arguments,
                                    std::string("capture.profile_memory=") + (profile_memory ? "true" : "false")));
}

/// Removes all digits and repeated blanks: times and process ids differ between runs, and glog pads the ids.
std::string jobs_own(const std::string& err) {
  std::istringstream lines(err);
  std::string own;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("profshim:", 0) == 0) continue;
    std::erase_if(line, [](char c) { return c >= '0' && c <= '9'; });
    line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }), line.end());
    own += line + "\n";
  }
  return own;
}

std::vector<const SeenEvent*> memory_events(const SeenTrace& trace) {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& event : trace.events) {
    if (event.name == "[memory]" || event.name == "[OutOfMemory]") found.push_back(&event);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const SeenEvent* a, const SeenEvent* b) { return a->ts_ns < b->ts_ns; });
  return found;
}

std::vector<const SeenEvent*> of_thread(const std::vector<const SeenEvent*>& events, std::int64_t tid) {
  std::vector<const SeenEvent*> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found), [&](const auto* e) { return e->tid == tid; });
  return found;
}

std::int64_t number(const SeenEvent& event, const char* key) {
  const auto at = event.args.find(key);
  return at == event.args.end() ? -1 : std::stoll(at->second);
}

/// torch.profiler does not report sizes of failed allocations.
std::string line_of(const SeenEvent& event) {
  return event.name + " " + (event.name == "[memory]" ? std::to_string(number(event, "Bytes")) : "0");
}

/// Ignores releases in `ours` of memory that was allocated before the window.
std::string first_difference(const std::vector<const SeenEvent*>& ours, const std::string& theirs) {
  std::istringstream lines(theirs);
  std::string line;
  bool more = static_cast<bool>(std::getline(lines, line));
  std::set<std::int64_t> allocated;
  for (const SeenEvent* event : ours) {
    const std::int64_t bytes = number(*event, "Bytes"), address = number(*event, "Addr");
    const bool is_older = bytes < 0 && !allocated.contains(address);
    if (bytes > 0) allocated.insert(address);
    if (bytes < 0) allocated.erase(address);
    if (more && line == line_of(*event)) {
      more = static_cast<bool>(std::getline(lines, line));
    } else if (!is_older) {
      return "ours: " + line_of(*event) + ", theirs: " + (more ? line : "nothing");
    }
  }
  return more ? "ours: nothing, theirs: " + line : "";
}

/// The search for a loop runs on another thread: on a busy machine these 20 short steps may end before it does.
void name_the_steps(Job& job, const ScratchFolder& scratch) {
  const std::string steps = "[steps]\nsource = \"torch\"\npattern = \"Optimizer.step*\"\nedge = \"end\"\n";
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\n" + steps));
}

class TorchMemory : public testing::TestWithParam<const char*> {};

TEST_P(TorchMemory, EqualsThatOfTorchsProfiler) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = training(scratch, GetParam());
  // The first failure ends its window, if that is open by then.
  const bool fails = std::string(GetParam()) == "--too-much";
  name_the_steps(job, scratch);
  if (fails) {
    job.environment.emplace_back("PROFSHIM_STEPS", "9,11-13");
  }

  const auto [without, with] = run_both(std::move(job));

  EXPECT_EQ(without.ending(), "exit 0") << without.err;
  EXPECT_EQ(with.ending(), "exit 0") << with.err;
  if (std::string(GetParam()) != "--workers 2") {
    EXPECT_EQ(with.out, without.out);
  }
  EXPECT_EQ(jobs_own(with.err), jobs_own(without.err));
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), fails ? 2u : 1u) << with.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{11, 12, 13}));
  EXPECT_EQ(traces[0].property("problems"), "[]");
  const auto main_thread = of_thread(memory_events(traces[0]), traces[0].events[0].pid);
  EXPECT_GT(main_thread.size(), 150u);
  EXPECT_EQ(first_difference(main_thread, with.out), "");
  const Outcome verdict = profshim({"verify", traces[0].path});
  EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
}

INSTANTIATE_TEST_SUITE_P(Real, TorchMemory, testing::Values("", "--workers 2", "--too-much"), [](const auto& row) {
  const std::string arguments = row.param;
  return std::string(arguments.empty() ? "plain" : arguments == "--too-much" ? "too_much" : "workers");
});

struct Alone {
  ScratchFolder scratch;
  Outcome outcome;
};

/// A training without torch.profiler, for all tests that only read its trace.
const Alone& recorded_alone() {
  static const Alone* const alone = [] {
    static Alone made;
    made.outcome = run(training(made.scratch, "--no-profiler"));
    return &made;
  }();
  return *alone;
}

RUNS_IN_ONE_PROCESS(TorchMemoryAlone);

// With c10's own memory profiling on, c10 would warn about each release of memory allocated earlier.
TEST(TorchMemoryAlone, SaysNothingAndCountsWhatItHasSeen) {
  NEEDS_TORCH(1);
  const auto& [scratch, outcome] = recorded_alone();

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(outcome.out + jobs_own(outcome.err), "");
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  const auto events = memory_events(traces[0]);
  ASSERT_GT(events.size(), 200u);
  std::int64_t total = number(*events[0], "Total Allocated");
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i]->name == "[memory]") total += number(*events[i], "Bytes");
    EXPECT_EQ(number(*events[i], "Total Allocated"), total) << "event " << i;
    EXPECT_EQ(number(*events[i], "Device Type"), 0);
    EXPECT_EQ(number(*events[i], "Device Id"), -1);
    EXPECT_EQ(events[i]->category, "cpu_instant_event");
  }
}

TEST(TorchMemoryAlone, IsOfTheThreadThatAsks) {
  NEEDS_TORCH(1);
  const auto& [scratch, outcome] = recorded_alone();

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  std::map<std::int64_t, std::string> by_thread;
  for (const SeenEvent* event : memory_events(traces[0])) {
    if (event->tid != event->pid) by_thread[event->tid] += std::to_string(number(*event, "Bytes")) + " ";
  }
  std::string seven;
  for (int i = 0; i < 7; ++i) seven += "12345 -12345 ";
  EXPECT_EQ(by_thread.size(), 3u);
  for (const auto& [tid, bytes] : by_thread) EXPECT_EQ(bytes, seven);
}

TEST(TorchMemoryAlone, FailedAllocationsAreShown) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  Job job = training(scratch, "--no-profiler --too-much");
  name_the_steps(job, scratch);
  const Outcome outcome = run(job);

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  const std::vector<const SeenEvent*> events = memory_events(traces[0]);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back()->name, "[OutOfMemory]") << "the window ends there";
  EXPECT_EQ(number(*events.back(), "Bytes"), std::int64_t{1} << 46);
  EXPECT_FALSE(events.back()->args.contains("Addr"));
}

TEST(TorchMemoryAlone, TheTraceOfAFailedAllocationIsWrittenBeforeTheErrorIsRaised) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string script = R"(
import glob, torch
parameter = torch.ones(8, requires_grad=True)
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(10):
    parameter.sum().backward()
    if step in (4, 8):
        try:
            torch.empty(10 ** 15)
        except RuntimeError as error:
            print("tried to allocate 4000000000000000 bytes" in str(error), len(glob.glob("traces/*/*.json")), len(glob.glob("traces/*/*.html")))
    optimizer.step()
)";

  const Outcome outcome = run(torch_lines(scratch, script, R"(
version = 1
[steps]
source = "torch"
pattern = "Optimizer.step#SGD.step"
edge = "end"
[schedule]
steps = ["3-5", "7-9"]
[capture]
profile_memory = true
[output]
folder = "traces"
gzip = false
export = ["chrome_trace", "memory_timeline"]
)"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "True 1 1\nTrue 1 1\n") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  EXPECT_EQ(traces[0].property("limit"), "an allocation of 4000000000000000 bytes failed in host memory");
  EXPECT_EQ(traces[0].calls("aten::empty").back()->args.at("finished"), "false") << "the operator that asked";
  EXPECT_EQ(traces[1].steps(), (std::vector<std::int64_t>{7, 8, 9}));
  EXPECT_EQ(traces[1].property("truncated"), "false");
}

TEST(TorchMemoryAlone, ReadersAcceptIt) {
  NEEDS_TORCH(1);
  const auto& [scratch, outcome] = recorded_alone();
  const std::string python = PROFSHIM_SOURCE_DIR "/build/venv-consumers/bin/python";
  const std::string readers = PROFSHIM_SOURCE_DIR "/tests/e2e/consumers/";

  const std::string folder = scratch / "traces/step11";
  Job hta{.command = {python, readers + "load_with_hta.py", folder, "1", "--steps", "11,12,13"}, .preload = false};
  Job board = hta;
  board.command[1] = readers + "load_with_tb.py";
  board.command.insert(board.command.end(), {"--memory", "CPU"});
  const Outcome by_hta = run(hta), by_board = run(board);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(by_hta.ending(), "exit 0") << by_hta.out << by_hta.err;
  EXPECT_EQ(by_board.ending(), "exit 0") << by_board.out << by_board.err;
}

TEST(TorchMemoryAlone, IsNotRecordedByDefault) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(training(scratch, "--no-profiler", false));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_TRUE(memory_events(traces[0]).empty());
}

}  // namespace
}  // namespace profshim::e2e
