#include <atomic>
#include <thread>

#include "profshim/hooks/ids.h"
#include "window_trace_fixture.h"

namespace profshim {
namespace {

class OpenCallsTest : public test::WindowTraceTest {};

TEST_F(OpenCallsTest, OpenCallIsShownUnfinished) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  call->name = recorder::intern("hung");
  recorder::begin(*call);
  const Ticks end = ticks() + 1000;
  recorder::close_window(*window, end, 0, spool::WindowEnd::kExit, 0);

  const auto hung = named(build(0), "hung");

  ASSERT_EQ(hung.size(), 1u);
  EXPECT_EQ(hung[0].end, static_cast<std::int64_t>(end));
  EXPECT_EQ(hung[0].args.count("finished"), 1u);
}

TEST_F(OpenCallsTest, CallThatEndedMeanwhileIsShownOnce) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  call->name = recorder::intern("once");
  recorder::begin(*call);
  call->end = ticks();
  recorder::commit(t, *call);  // as if the process died before discarding the call
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "once").size(), 1u);
}

TEST_F(OpenCallsTest, FailedExchangeThatEndedMeanwhileIsShownOnce) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = hooks::MPI_Sendrecv;
  recorder::begin(*call);
  Event ended = *call;
  ended.end = ticks();
  ended.flags |= kFailed | kContinues;  // known only at the call's end
  recorder::commit(t, ended);
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "MPI_Sendrecv").size(), 1u);
}

TEST_F(OpenCallsTest, OperationThatAnotherThreadCompletesIsShownOnce) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  Event* const operation = recorder::take_pending();
  *operation = Event{};
  operation->hook = hooks::MPI_Irecv;
  operation->flags = kAsyncSlice;
  operation->mpi.request = 7;
  recorder::begin(*operation);
  std::thread([operation] {
    Event done = *operation;
    done.end = ticks();
    recorder::commit(*recorder::this_thread(), done);  // as if the process died before releasing the slot
  }).join();
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "MPI_Irecv").size(), 2u);
}

TEST_F(OpenCallsTest, CallThatEndsMeanwhileIsNotLost) {
  constexpr int kWindows = 200;
  std::atomic<bool> stop{false};
  std::vector<Ticks> begins;
  // A window misses a call if its thread is preempted between reading the clock and storing the begin.
  std::vector<Ticks> held_up;
  std::thread caller([&] {
    spool::Thread& t = *recorder::this_thread();
    while (!stop) {
      Event* const call = recorder::open_call(t);
      *call = Event{};
      call->hook = hooks::MPI_Barrier;
      const Ticks before = ticks();
      recorder::begin(*call);
      const Ticks begin = call->begin;
      if (ticks() - before > 10'000) held_up.push_back(begin);
      while (ticks() < begin + 20'000) {
      }
      recorder::end(t, *call);
      begins.push_back(begin);
    }
  });
  std::vector<Ticks> ends;
  std::vector<Ticks> starts;
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < kWindows; ++i) {
    const Ticks start = ticks();
    spool::Window* const window = recorder::open_window(start, spool::kNoMark);
    while (ticks() < start + 200'000) {
    }
    const Ticks end = ticks();
    recorder::close_window(*window, end, 0, spool::WindowEnd::kSchedule, 0);
    view_ = view();
    seen.push_back(kineto::WindowTraceBuilder(*view_, static_cast<std::uint64_t>(i), {}).summary().calls);
    starts.push_back(start);
    ends.push_back(end);
    window->state = spool::WindowState::kPublished;
  }
  stop = true;
  caller.join();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto in_window = [&](Ticks t) { return t >= starts[i] && t < ends[i]; };
    if (std::any_of(held_up.begin(), held_up.end(), in_window)) continue;
    const auto made = std::count_if(begins.begin(), begins.end(), in_window);
    EXPECT_EQ(seen[i], static_cast<std::uint64_t>(made)) << "window " << i;
  }
}

TEST_F(OpenCallsTest, OpenWindowEndsAtTheLastKnownMomentAndIsIncomplete) {
  recorder::open_window(100, spool::kNoMark);
  commit_range(150, 400, "last");

  kineto::WindowSummary summary;
  const auto all = build(0, &summary);

  EXPECT_FALSE(summary.complete);
  EXPECT_EQ(named(all, "Record Window End")[0].begin, 401);
}

}  // namespace
}  // namespace profshim
