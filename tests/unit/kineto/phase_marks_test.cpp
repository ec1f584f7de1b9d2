#include <thread>
#include <tuple>

#include "profshim/hooks/ids.h"
#include "unit/kineto/device/device_fixture.h"

namespace profshim {
namespace {

using test::DeviceTest;
using test::kTid;
using test::Row;

class PhaseMarksTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    define(1, "rollout", "rollout*");
    define(2, "actor", "actor*", 5000);
  }

  static void define(std::uint32_t id, const char* name, const char* pattern, std::int64_t max_ns = 0) {
    recorder::define(spool::DefinitionKind::kPhase, id, recorder::intern(name), recorder::intern(pattern),
                     {static_cast<std::int64_t>(PhaseSource::kNvtx), max_ns});
  }

  static Event range(Ticks begin, Ticks end, std::string_view name, std::uint8_t flags = kPhase) {
    return range_event(begin, end, name, flags);
  }
  static void commit(const Event& e) { recorder::commit(*recorder::this_thread(), e); }
  static void call(Ticks at) {
    Event e;
    e.begin = at;
    e.end = at + 10;
    e.hook = hooks::MPI_Barrier;
    commit(e);
  }
  static std::vector<std::string> phases_of(const std::vector<Row>& rows, std::string_view name) {
    std::vector<std::string> phases;
    for (const Row& row : rows) {
      if (row.name != name || row.category == "phase") continue;
      const auto inner = row.args.find("phase"), outer = row.args.find("outer phases");
      phases.push_back((outer == row.args.end() ? "" : outer->second + " > ") +
                       (inner == row.args.end() ? "-" : inner->second));
    }
    return phases;
  }
};

TEST_F(PhaseMarksTest, EventsHaveThePhasesOfTheirThread) {
  commit(range(2000, 4000, "rollout 1"));
  commit(range(2500, 3000, "actor 1"));
  for (const Ticks at : {1900, 2000, 2600, 3000, 4000}) call(at);
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(phases_of(rows, "MPI_Barrier"),
            (std::vector<std::string>{"-", "rollout", "rollout > actor", "rollout", "-"}));
  EXPECT_EQ(phases_of(rows, "actor 1"), std::vector<std::string>{"rollout > actor"});
}

/// A call of a function that makes the phases of `bits`.
Event call_range(Ticks begin, Ticks end, std::uint32_t bits) {
  Event e;
  e.hook = HookId::kPhaseRange;
  e.flags = kPhase;
  e.begin = begin;
  e.end = end;
  e.name = recorder::intern("work()");
  e.phase.phases = bits;
  return e;
}

TEST_F(PhaseMarksTest, CallsOfFunctionsSayWhichPhasesTheyMakeAndAreNoEventsOfTheirThread) {
  commit(call_range(2000, 3000, 2));
  commit(call_range(3000, 4000, 3));
  commit(call_range(4000, 5000, 1u << 30));  // no such phase
  for (const Ticks at : {2100, 3100, 4100}) call(at);
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(phases_of(rows, "MPI_Barrier"), (std::vector<std::string>{"actor", "rollout > actor", "-"}));
  for (const Row& row : rows) EXPECT_NE(row.name, "work()");
}

TEST_F(PhaseMarksTest, ARangeInsideARangeOfItsPhaseIsNoOccurrence) {
  commit(range(2000, 4000, "rollout 1"));
  commit(range(2100, 3000, "rollout inside"));
  commit(range(4000, 4500, "rollout 2"));
  for (const Ticks at : {2200, 3500}) call(at);
  close();

  const std::vector<Row> rows = this->rows();

  const auto is_occurrence = [](const Row& row) { return row.category == "phase"; };
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), is_occurrence), 2);
  EXPECT_EQ(phases_of(rows, "MPI_Barrier"), (std::vector<std::string>{"rollout", "rollout"}));
}

TEST_F(PhaseMarksTest, ThePartsOfAGeneratorAreMarkedAndTheEndOfAThreadIsTheEndOfItsPhase) {
  commit(call_range(2000, 2100, 1));
  Event resumed = call_range(2200, 2300, 1);
  resumed.phase.resumed = 1;
  commit(resumed);
  Event* const life = recorder::open_call(*recorder::this_thread());
  *life = call_range(0, 0, 1);
  life->phase.is_life = 1;
  life->begin = 2400;
  recorder::close_window(*window_, 9000, 0, spool::WindowEnd::kExit, 0);

  std::vector<std::string> seen;
  for (const Row& row : rows()) {
    if (row.category != "phase") continue;
    seen.push_back(row.name + (row.args.count("resumed") != 0 ? " resumed" : "") +
                   (row.args.count("unclosed") != 0 ? " unclosed" : ""));
  }
  recorder::discard(*recorder::this_thread(), *life);

  EXPECT_EQ(seen, (std::vector<std::string>{"rollout", "rollout resumed", "rollout"}));
}

Event counter_event(Ticks begin, Ticks end, std::uint32_t bits, PerfCounter counter, std::uint64_t value) {
  Event e;
  e.hook = HookId::kPhaseCounter;
  e.begin = begin;
  e.end = end;
  e.phase_counter.value = value;
  e.phase_counter.phases = bits;
  e.phase_counter.counter = static_cast<std::uint8_t>(counter);
  return e;
}

/// Returns "faults, clock" of each occurrence; "-" = unknown.
std::vector<std::string> counted_in(const std::vector<Row>& rows) {
  std::vector<std::string> found;
  for (const Row& row : rows) {
    if (row.category != "phase") continue;
    const auto text = [&row](const char* key) { return row.args.count(key) == 0 ? "-" : row.args.at(key); };
    found.push_back(row.name + " " + text("page_faults") + ", " + text("task_clock (us)"));
  }
  return found;
}

TEST_F(PhaseMarksTest, OccurrencesHaveTheCountersThatWereReadAtTheirEnds) {
  commit(range(2000, 3000, "rollout 1"));
  commit(counter_event(1990, 3000, 1, PerfCounter::kPageFaults, 7));
  commit(counter_event(1990, 3000, 1, PerfCounter::kTaskClock, 2500));
  commit(call_range(3000, 4000, 3));
  commit(counter_event(3000, 4000, 3, PerfCounter::kPageFaults, 8));
  commit(range(4000, 5000, "rollout without counters"));
  commit(counter_event(4000, 5000, 2, PerfCounter::kPageFaults, 9));  // of another phase
  commit(counter_event(4000, 4999, 1, PerfCounter::kPageFaults, 9));  // of a range inside
  commit(counter_event(4000, 5000, 1, PerfCounter{200}, 9));          // a damaged spool
  std::thread([] {
    recorder::this_thread();
    commit(counter_event(4000, 5000, 1, PerfCounter::kPageFaults, 9));
  }).join();
  close();

  EXPECT_EQ(counted_in(rows()),
            (std::vector<std::string>{"rollout 7, 2.5", "rollout 8, -", "rollout -, -", "actor 8, -"}));
}

TEST_F(PhaseMarksTest, AnOccurrenceThatTheWindowCutsHasNoCounters) {
  commit(range(100, 2000, "rollout 1"));  // before the window
  commit(counter_event(100, 2000, 1, PerfCounter::kPageFaults, 7));
  close();

  EXPECT_EQ(counted_in(rows()), std::vector<std::string>{"rollout -, -"});
}

/// Commits events of PyTorch on a thread of its own.
void on_other_thread(const std::vector<std::tuple<HookId, Ticks, Ticks, const char*>>& events) {
  std::thread([&] {
    recorder::this_thread();
    for (const auto& [hook, begin, end, name] : events) {
      Event e;
      e.hook = hook;
      e.begin = begin;
      e.end = end;
      e.name = recorder::intern(name);
      recorder::commit(*recorder::this_thread(), e);
    }
  }).join();
}

TEST_F(PhaseMarksTest, BackwardThreadsHaveThePhaseOfTheThreadThatWaitsForThem) {
  commit(range(2000, 3000, "actor 1"));
  on_other_thread({{HookId::kTorchBackward, 2100, 2200, "MmBackward0"},
                   {HookId::kTorchOperator, 2110, 2120, "aten::mm"},
                   {HookId::kTorchBackward, 3100, 3200, "MmBackward0"}});
  on_other_thread({{HookId::kTorchOperator, 2300, 2310, "aten::add"},  // trains on its own, in no phase
                   {HookId::kTorchBackward, 2400, 2500, "AddBackward0"}});
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(phases_of(rows, "MmBackward0"), (std::vector<std::string>{"actor", "-"}));
  EXPECT_EQ(phases_of(rows, "aten::mm"), std::vector<std::string>{"actor"});
  EXPECT_EQ(phases_of(rows, "AddBackward0"), std::vector<std::string>{"-"});
}

TEST_F(PhaseMarksTest, BackwardThreadsHaveNoPhaseWhileSeveralThreadsAreInOne) {
  commit(range(2000, 3000, "rollout 1"));
  std::thread([] { commit(range(2100, 2400, "actor 1")); }).join();
  on_other_thread(
      {{HookId::kTorchBackward, 2200, 2210, "MmBackward0"}, {HookId::kTorchBackward, 2500, 2510, "MmBackward0"}});
  close();

  EXPECT_EQ(phases_of(rows(), "MmBackward0"), (std::vector<std::string>{"-", "rollout"}));
}

TEST_F(PhaseMarksTest, KernelsHaveThePhaseOfTheirLaunch) {
  commit(range(2000, 3000, "rollout 1"));
  const auto tid = static_cast<std::int32_t>(gettid());
  device_->call(2100, 2150, "cudaLaunchKernel", 41, tid);
  device_->kernel(5000, 6000, "inside", 41);
  device_->call(3100, 3150, "cudaLaunchKernel", 42, tid);
  device_->kernel(6000, 7000, "outside", 42);
  device_->call(2200, 2250, "cudaLaunchKernel", 43, tid + 1);
  device_->kernel(7000, 8000, "elsewhere", 43);
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(phases_of(rows, "inside"), std::vector<std::string>{"rollout"});
  EXPECT_EQ(phases_of(rows, "outside"), std::vector<std::string>{"-"});
  EXPECT_EQ(phases_of(rows, "elsewhere"), std::vector<std::string>{"-"});
  EXPECT_EQ(phases_of(rows, "cudaLaunchKernel"), (std::vector<std::string>{"rollout", "-", "-"}));
}

TEST_F(PhaseMarksTest, OccurrencesLieInATrackOfTheirPhase) {
  commit(range(2000, 3000, "rollout 1"));
  commit(range(4000, 5000, "rollout 2"));
  commit(range(6000, 7000, "rollout without the flag", 0));
  close();

  const std::vector<Row> rows = this->rows();

  const std::vector<Row> phases = of(rows, "phase");
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].name, "rollout");
  EXPECT_EQ(phases[1].begin, 4000);
  EXPECT_EQ(phases[1].end, 5000);
  EXPECT_EQ(phases[1].args.at("range"), "rollout 2");
  EXPECT_EQ(phases[0].tid, phases[1].tid);
  for (const Row& row : rows) {
    if (row.name == "thread_name" && row.tid == phases[0].tid) {
      EXPECT_EQ(row.args.at("name"), "phase rollout");
    }
  }
}

TEST_F(PhaseMarksTest, APhaseAroundTheWindowIsCut) {
  commit(range(100, 20000, "rollout 1"));
  call(1500);
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(phases_of(rows, "MPI_Barrier"), std::vector<std::string>{"rollout"});
  const Row phase = of(rows, "phase").at(0);
  EXPECT_EQ(phase.begin, 1000);
  EXPECT_EQ(phase.end, 9000);
  EXPECT_EQ(phase.args.count("started"), 1u);
  EXPECT_EQ(phase.args.count("finished"), 1u);
  EXPECT_EQ(phase.args.count("unclosed"), 0u);
}

TEST_F(PhaseMarksTest, AnOpenRangeEndsLaterOrNever) {
  Event* const open = recorder::open_call(*recorder::this_thread());
  *open = range(0, 0, "rollout 1");
  open->begin = 2000;
  call(8000);
  close();

  const Row later = of(rows(), "phase").at(0);
  EXPECT_EQ(later.args.count("finished"), 1u);
  EXPECT_EQ(later.args.count("unclosed"), 0u);

  window_->ended_by.store(spool::WindowEnd::kExit);
  const std::vector<Row> at_exit = rows();
  EXPECT_EQ(of(at_exit, "phase").at(0).end, 9000);
  EXPECT_EQ(of(at_exit, "phase").at(0).args.count("unclosed"), 1u);
  EXPECT_EQ(phases_of(at_exit, "MPI_Barrier"), std::vector<std::string>{"rollout"});
}

TEST_F(PhaseMarksTest, MaxSecondsEndAPhase) {
  commit(range(2000, 8000, "actor 1"));
  call(6990);
  call(7010);
  close();

  const std::vector<Row> rows = this->rows();

  EXPECT_EQ(of(rows, "phase").at(0).end, 7000);
  EXPECT_EQ(of(rows, "phase").at(0).args.count("unclosed"), 1u);
  EXPECT_EQ(phases_of(rows, "MPI_Barrier"), (std::vector<std::string>{"actor", "-"}));
}

TEST_F(PhaseMarksTest, ARangeThatEndsBeforeItBeginsIsNoPhase) {
  commit(range(5000, 4000, "rollout 1"));
  close();

  EXPECT_TRUE(of(rows(), "phase").empty());
}

TEST_F(PhaseMarksTest, ARangeThatEndedWhileItWasReadCountsOnce) {
  Event* const open = recorder::open_call(*recorder::this_thread());
  *open = range(0, 0, "rollout 1");
  open->begin = 2000;
  commit(range(2000, 3000, "rollout 1"));
  close();

  const std::vector<Row> phases = of(rows(), "phase");

  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].end, 3000);
}

}  // namespace
}  // namespace profshim
