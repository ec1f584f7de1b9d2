// Counters of the steps, from the spool into the trace.
#include "window_trace_fixture.h"

namespace profshim {
namespace {

using test::Slice;

class StepCounters : public test::WindowTraceTest {
 protected:
  void SetUp() override {
    make_spool(64, 256 << 10, kRoom);
    recorder::add_anchor({1, 1, test::kWall + 1});
    recorder::header().base_time_ns = test::kWall;
  }

  static PerfReading reading(std::uint64_t instructions, std::uint64_t faults, std::uint64_t task_ns,
                             std::uint64_t enabled_ns, std::uint64_t ran_ns) {
    PerfReading r;
    const auto set = [&r](PerfCounter counter, std::uint64_t value) {
      r.values[static_cast<std::size_t>(counter)] = value;
      r.known |= std::uint64_t{1} << static_cast<unsigned>(counter);
    };
    set(PerfCounter::kInstructions, instructions);
    set(PerfCounter::kPageFaults, faults);
    set(PerfCounter::kTaskClock, task_ns);
    r.enabled_ns = enabled_ns;
    r.ran_ns = ran_ns;
    return r;
  }

  /// Records one step for each reading but the last.
  std::map<std::string, std::string> args_of_first_step(const std::vector<PerfReading>& readings) {
    Ticks at = 100;
    const std::uint64_t first = recorder::add_mark({at, 1, 1}, readings[0]);
    spool::Window* const window = recorder::open_window(at, first);
    for (std::size_t i = 1; i + 1 < readings.size(); ++i)
      recorder::add_mark({at += 100, static_cast<std::int64_t>(1 + i), static_cast<std::int64_t>(1 + i)}, readings[i]);
    at += 100;
    recorder::close_window(*window, at, recorder::add_mark({at, 99, 99}, readings.back()), spool::WindowEnd::kSchedule,
                           0);
    return named(build(0), "ProfilerStep#1").at(0).args;
  }

  static constexpr std::uint32_t kRoom = 4;
};

TEST_F(StepCounters, AreTheGrowthBetweenTheBoundaries) {
  const auto args = args_of_first_step({reading(1000, 5, 2000, 10, 10), reading(1700, 8, 4500, 30, 30)});

  EXPECT_EQ(args.at("instructions"), "700");
  EXPECT_EQ(args.at("page_faults"), "3");
  EXPECT_EQ(args.at("task_clock (us)"), "2.5");
  EXPECT_EQ(args.count("counted (%)"), 0u);
  EXPECT_EQ(args.count("cycles"), 0u);
}

TEST_F(StepCounters, OfTheProcessorAreEstimatedIfOthersUsedItsCounters) {
  const auto args = args_of_first_step({reading(1000, 5, 0, 100, 100), reading(1700, 8, 0, 500, 200)});

  EXPECT_EQ(args.at("instructions"), "2800");
  EXPECT_EQ(args.at("page_faults"), "3");
  EXPECT_EQ(args.at("counted (%)"), "25");
}

TEST_F(StepCounters, OfTheProcessorThatNeverRanAreUnknown) {
  const auto args = args_of_first_step({reading(1000, 5, 0, 100, 100), reading(1000, 8, 0, 500, 100)});

  EXPECT_EQ(args.count("instructions"), 0u);
  EXPECT_EQ(args.at("page_faults"), "3");
  EXPECT_EQ(args.at("counted (%)"), "0");
}

TEST_F(StepCounters, ThatWereNotReadOrWentBackAreUnknown) {
  const auto args = args_of_first_step({reading(1000, 5, 0, 1, 1), reading(900, 9, 0, 2, 2)});

  EXPECT_EQ(args.count("instructions"), 0u);
  EXPECT_EQ(args.at("page_faults"), "4");
}

TEST_F(StepCounters, ThatWereOverwrittenAreUnknown) {
  const auto args = args_of_first_step(std::vector<PerfReading>(kRoom + 2, reading(1000, 5, 0, 1, 1)));

  EXPECT_EQ(args.count("instructions"), 0u);
}

}  // namespace
}  // namespace profshim
