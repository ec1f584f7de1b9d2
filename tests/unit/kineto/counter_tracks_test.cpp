#include <limits>

#include "window_trace_fixture.h"

namespace profshim {
namespace {

class CounterTracks : public test::WindowTraceTest {
 protected:
  void sample(Ticks at, SystemCounter counter, double value, std::uint16_t device = 0) {
    if (block_ == nullptr) block_ = recorder::system_block();
    Event e;
    e.begin = e.end = at;
    e.hook = HookId::kSystemSample;
    e.system = {.value = value, .counter = counter, .device = device, .reserved = {}};
    recorder::commit(*block_, e);
  }

  static std::vector<test::Slice> counters(const std::vector<test::Slice>& all) {
    std::vector<test::Slice> found;
    for (const test::Slice& s : all)
      if (s.phase == "C") found.push_back(s);
    return found;
  }

 private:
  spool::Thread* block_ = nullptr;
};

TEST_F(CounterTracks, HaveOneValueWithItsUnit) {
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  commit_range(1100, 1200, "range");
  sample(1300, SystemCounter::kProcessMemory, 4096);
  sample(1500, SystemCounter::kDiskRead, 1e12 + 0.6);
  recorder::close_window(*window, 2000, 0, spool::WindowEnd::kSchedule, 0);

  kineto::WindowSummary summary;
  const auto found = counters(build(0, &summary));

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "process memory");
  EXPECT_EQ(found[0].begin, 1300);
  EXPECT_EQ(found[0].args, (std::map<std::string, std::string>{{"bytes", "4096"}}));
  EXPECT_EQ(found[1].name, "process disk reads");
  EXPECT_EQ(found[1].args, (std::map<std::string, std::string>{{"bytes/s", "1000000000001"}}));
  EXPECT_EQ(summary.calls, 1u);
}

TEST_F(CounterTracks, HoldTheSamplesOfTheirWindowOnly) {
  sample(900, SystemCounter::kProcessThreads, 1);
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  commit_range(1100, 1200, "range");
  sample(1000, SystemCounter::kProcessThreads, 2);
  sample(1999, SystemCounter::kProcessThreads, 3);
  sample(2000, SystemCounter::kProcessThreads, 4);
  recorder::close_window(*window, 2000, 0, spool::WindowEnd::kSchedule, 0);

  const auto found = counters(build(0));

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].args.at("number"), "2");
  EXPECT_EQ(found[1].args.at("number"), "3");
}

TEST_F(CounterTracks, ImpossibleSamplesOfADamagedSpoolAreLeftOut) {
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  commit_range(1100, 1200, "range");
  sample(1300, SystemCounter::kCount, 1);
  sample(1300, static_cast<SystemCounter>(65535), 1);
  for (const double value :
       {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    sample(1300, SystemCounter::kProcessMemory, value);
  recorder::close_window(*window, 2000, 0, spool::WindowEnd::kSchedule, 0);

  EXPECT_TRUE(counters(build(0)).empty());
}

TEST_F(CounterTracks, AreNotReasonEnoughForATrace) {
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  sample(1300, SystemCounter::kProcessMemory, 1);
  recorder::close_window(*window, 2000, 0, spool::WindowEnd::kExit, 0);
  view_ = view();

  EXPECT_TRUE(kineto::WindowTraceBuilder(*view_, 0, {}).empty());
}

TEST_F(CounterTracks, AWindowThatNeverEndedLastsUntilItsLastSample) {
  recorder::open_window(1000, spool::kNoMark);
  commit_range(1100, 1200, "range");
  sample(5000, SystemCounter::kProcessMemory, 1);

  const auto all = build(0);

  EXPECT_EQ(counters(all).size(), 1u);
  EXPECT_EQ(named(all, "PyTorch Profiler (0)").at(0).end, 5001);
}

}  // namespace
}  // namespace profshim
