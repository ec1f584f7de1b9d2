#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "profshim/hooks/ids.h"
#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using recorder::this_thread;
using CallsInFlightTest = test::SpoolFixture;

TEST_F(CallsInFlightTest, AnOpenCallLiesInTheSpoolUntilItEnds) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  recorder::begin(*call);

  EXPECT_NE(view()->thread(t.index).open[0].begin, 0u);
  recorder::end(t, *call);

  EXPECT_EQ(view()->thread(t.index).open[0].begin, 0u);
  EXPECT_EQ(t.open_calls, 0u);
  EXPECT_EQ(all_events().size(), 1u);
}

TEST_F(CallsInFlightTest, OpenCallsMayEndInAnyOrder) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  Event* calls[3];
  for (Event*& call : calls) {
    call = recorder::open_call(t);
    *call = Event{};
    recorder::begin(*call);
  }

  recorder::end(t, *calls[1]);
  EXPECT_EQ(t.open_calls, 3u);
  recorder::end(t, *calls[2]);
  EXPECT_EQ(t.open_calls, 1u);
  recorder::end(t, *calls[0]);
  EXPECT_EQ(t.open_calls, 0u);
}

TEST_F(CallsInFlightTest, CallsNestedTooDeepAreCounted) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  for (std::uint32_t i = 0; i < spool::kMaxOpenCalls; ++i) {
    Event* const call = recorder::open_call(t);
    *call = Event{};
    recorder::begin(*call);
  }

  EXPECT_EQ(recorder::open_call(t), nullptr);
  EXPECT_EQ(recorder::dropped(), 1u);
}

TEST_F(CallsInFlightTest, CallLeftByLongjmpIsClosedByTheNextOne) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  constexpr std::uint32_t kMore = 2 * spool::kMaxOpenCalls;
  const auto jump_out_of_a_call = [&t] {
    // After a longjmp(), the call never ends.
    alignas(recorder::LayerScope) char frame[sizeof(recorder::LayerScope)];
    const auto* const scope = new (frame) recorder::LayerScope(t, Layer::kMpi);
    EXPECT_TRUE(scope->outermost());
    Event* const call = recorder::open_call(t);
    ASSERT_NE(call, nullptr);
    *call = Event{};
    call->hook = hooks::MPI_Send;
    recorder::begin(*call);
  };
  for (std::uint32_t i = 0; i < kMore; ++i) jump_out_of_a_call();

  EXPECT_LE(t.open_calls, 1u);
  const auto events = all_events();
  ASSERT_EQ(events.size(), kMore - 1);
  EXPECT_EQ(events[0].flags & kUnfinished, kUnfinished);
  EXPECT_GE(events[0].end, events[0].begin);
}

TEST_F(CallsInFlightTest, PendingSlotsAreLimitedAndReused) {
  make_spool(64);
  std::vector<Event*> slots;
  while (Event* const slot = recorder::take_pending()) slots.push_back(slot);
  EXPECT_EQ(slots.size(), spool::kMaxPending);
  EXPECT_EQ(recorder::header().pending_lost.load(), 1u);

  recorder::release_pending(slots.back());

  EXPECT_EQ(recorder::take_pending(), slots.back());
}

}  // namespace
}  // namespace profshim
