#include "profshim/phase_ranges.h"

#include <gtest/gtest.h>

#include <thread>

#include "unit/spool_fixture.h"

namespace profshim {
namespace {

class PhaseRanges : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(16); }

  static std::vector<Event> committed() {
    std::vector<Event> events;
    view()->for_each_run(
        [&](const spool::Run& run) { events.insert(events.end(), run.events, run.events + run.count); });
    return events;
  }
};

TEST_F(PhaseRanges, AreRecordedFromBeginToEndAlsoInParts) {
  Event* const first = phase_ranges::begin(5, recorder::intern("data"), 100);
  EXPECT_EQ(phase_ranges::find_open(5, recorder::intern("data")), first);
  phase_ranges::suspend(first);
  EXPECT_EQ(phase_ranges::find_open(5, recorder::intern("data")), nullptr);
  Event* const second = phase_ranges::resume(5, recorder::intern("data"));
  phase_ranges::end(second, 5);

  const std::vector<Event> events = committed();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].begin, 100u);
  EXPECT_EQ(events[0].phase.phases, 5u);
  EXPECT_EQ(events[0].phase.resumed, 0);
  EXPECT_EQ(events[1].phase.resumed, 1);
  EXPECT_NE(events[0].flags & events[1].flags & kPhase, 0);
}

TEST_F(PhaseRanges, ATickIsNoRange) {
  EXPECT_EQ(phase_ranges::begin(std::uint64_t{1} << 32, recorder::intern("micro_batch")), nullptr);
}

// A call that longjmp() has left may have begun on a thread that ended since.
TEST_F(PhaseRanges, OfAnotherThreadAreLeftToIt) {
  ASSERT_NE(recorder::this_thread(), nullptr);
  Event* range = nullptr;
  std::thread([&range] { range = phase_ranges::begin(1, recorder::intern("work")); }).join();
  ASSERT_EQ(committed().size(), 1u) << "its thread has ended it";
  range->begin = 200;  // a later call in the same place

  phase_ranges::end(range, 1);

  EXPECT_EQ(committed().size(), 1u);
  EXPECT_EQ(range->begin, 200u);
}

}  // namespace
}  // namespace profshim
