#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using recorder::this_thread;
using test::SpoolFixture;

TEST_F(SpoolFixture, AnEventLandsInTheSpoolWithItsThread) {
  make_spool(64);
  Event event;
  event.begin = 10;
  event.end = 20;
  event.hook = HookId::kNvtxRange;

  recorder::commit(*this_thread(), event);

  const auto found = all_events();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 10u);
  EXPECT_EQ(found[0].end, 20u);
}

TEST_F(SpoolFixture, DropsNewestWhenThePoolIsExhaustedAndCounts) {
  make_spool(16);
  recorder::tend_pool([] { return Ticks{1}; }, 16);
  // A thread begins with short runs, and each of their headers takes the place of an event.
  const std::uint64_t most = 16ull * spool::kEventsPerChunk, least = most - 16;

  for (std::uint64_t i = 0; i < most + 100; ++i) commit_at(i + 1);

  const auto found = all_events();
  EXPECT_GE(found.size(), least);
  EXPECT_LE(found.size(), most);
  EXPECT_EQ(recorder::dropped(), most + 100 - found.size());
  EXPECT_EQ(std::max_element(found.begin(), found.end(), [](auto& a, auto& b) { return a.begin < b.begin; })->begin,
            found.size());
  EXPECT_NE(recorder::take_first_drop(), 0u);
  EXPECT_EQ(recorder::take_first_drop(), 0u);
}

TEST_F(SpoolFixture, ChunksThatNoWindowNeedsAreFreed) {
  make_spool(16);
  recorder::tend_pool([] { return Ticks{0}; }, 16);
  for (std::uint64_t i = 0; i < 100ull * spool::kEventsPerChunk; ++i) {
    commit_at(i + 1);
    if (i % spool::kEventsPerChunk == 0) recorder::tend_pool([] { return Ticks{0}; }, 8);
  }

  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(SpoolFixture, ChunksOfAnUnpublishedWindowStay) {
  make_spool(64);
  recorder::tend_pool([] { return Ticks{0}; }, 64);
  for (std::uint64_t i = 0; i < 10ull * spool::kEventsPerChunk; ++i) commit_at(i + 1);
  const Ticks window_begin = 5 * spool::kEventsPerChunk;

  recorder::tend_pool([window_begin] { return window_begin; }, 1);

  std::set<Ticks> kept;
  for (const Event& e : all_events()) kept.insert(e.begin);
  for (Ticks t = window_begin; t <= 10 * spool::kEventsPerChunk; ++t) EXPECT_EQ(kept.count(t), 1u) << t;
  EXPECT_EQ(kept.count(1), 0u);
}

TEST_F(SpoolFixture, EveryThreadHasItsOwnChunks) {
  make_spool(256);
  recorder::tend_pool([] { return Ticks{1}; }, 256);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5000; ++i) commit_at(static_cast<Ticks>(i) + 1);
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(all_events().size(), 8u * 5000u);
  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(SpoolFixture, ThreadsThatEndFreeTheirBlocks) {
  make_spool(256);
  recorder::tend_pool([] { return Ticks{0}; }, 64);
  for (int i = 0; i < 3000; ++i) {
    std::thread([] { commit_at(1); }).join();
    if (i % 16 == 0) recorder::tend_pool([] { return Ticks{0}; }, 64);
  }

  EXPECT_EQ(recorder::header().threads_lost.load(), 0u);
  EXPECT_EQ(recorder::dropped(), 0u);
}

// More threads are alive at once than there are chunks.
TEST_F(SpoolFixture, ManyThreadsWithFewEventsShareChunks) {
  constexpr int kThreads = 200;
  make_spool(64);
  recorder::tend_pool([] { return Ticks{1}; }, 64);
  std::barrier all_alive(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&all_alive] {
      for (Ticks i = 1; i <= 40; ++i) commit_at(i);
      all_alive.arrive_and_wait();
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(all_events().size(), kThreads * 40u);
  EXPECT_EQ(recorder::dropped(), 0u);
  EXPECT_EQ(recorder::events_committed(), kThreads * 40u);
}

TEST_F(SpoolFixture, AThreadContinuesTheRunOfOneThatHasEnded) {
  constexpr std::uint64_t kThreads = 3000, kEach = 10;
  make_spool(64);  // 65,000 slots in all
  recorder::tend_pool([] { return Ticks{1}; }, 64);
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    std::thread([i] {
      for (std::uint64_t k = 0; k < kEach; ++k) commit_at(i * kEach + k + 1);
    }).join();
  }

  const auto found = all_events();
  std::set<Ticks> begins;
  for (const Event& e : found) begins.insert(e.begin);
  EXPECT_EQ(found.size(), kThreads * kEach);
  EXPECT_EQ(begins.size(), kThreads * kEach);
  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(SpoolFixture, EachRunOfAChunkHasItsThread) {
  make_spool(64);
  std::set<std::int32_t> tids;
  std::mutex mutex;
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      for (Ticks k = 1; k <= 5; ++k) commit_at(k);
      const std::lock_guard lock(mutex);
      tids.insert(this_thread()->tid);
    }).join();
  }

  std::set<std::int32_t> found;
  std::set<std::uint32_t> orders;
  view()->for_each_run([&](const spool::Run& run) {
    found.insert(run.header->tid);
    EXPECT_LE(run.count, run.header->room.load());
    EXPECT_TRUE(orders.insert(run.header->thread << 20 | run.header->sequence).second);
  });
  EXPECT_EQ(found, tids);
}

// Threads start, end and take over runs as fast as they can: no event is lost or duplicated.
TEST_F(SpoolFixture, RunsThatManyThreadsLeaveAndTakeAtOnceStayWhole) {
  constexpr std::uint64_t kSpawners = 8, kEach = 200, kEvents = 45;
  make_spool(256);
  recorder::tend_pool([] { return Ticks{1}; }, 256);
  std::vector<std::thread> spawners;
  for (std::uint64_t s = 0; s < kSpawners; ++s) {
    spawners.emplace_back([s] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        std::thread([s, i] {
          for (std::uint64_t k = 0; k < kEvents; ++k) commit_at(((s * kEach) + i) * kEvents + k + 1);
        }).join();
      }
    });
  }
  for (auto& thread : spawners) thread.join();

  std::set<Ticks> begins;
  for (const Event& e : all_events()) EXPECT_TRUE(begins.insert(e.begin).second) << e.begin;
  EXPECT_EQ(begins.size() + recorder::dropped(), kSpawners * kEach * kEvents);
  EXPECT_EQ(recorder::dropped(), 0u);
  EXPECT_EQ(recorder::events_committed(), kSpawners * kEach * kEvents);
}

TEST_F(SpoolFixture, ChunksThatThreadsSharedAreFreed) {
  make_spool(64);
  recorder::tend_pool([] { return Ticks{0}; }, 64);
  for (int i = 0; i < 3000; ++i) {
    std::thread([] {
      for (Ticks k = 1; k <= 300; ++k) commit_at(k);
    }).join();
    if (i % 16 == 0) recorder::tend_pool([] { return Ticks{0}; }, 64);
  }

  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(SpoolFixture, EventsOfAThreadWithoutABlockAreDropped) {
  make_spool(64);
  ASSERT_NE(this_thread(), nullptr);
  const auto v = view();
  for (std::uint32_t i = 1; i < spool::kMaxThreads; ++i) {
    const_cast<spool::Thread&>(v->thread(i)).slot = spool::ThreadSlot::kLive;
  }
  EXPECT_EQ(spool::threads_lost_sentence(recorder::header()), "");

  std::thread([] {
    for (int i = 0; i < 7; ++i) {
      if (this_thread() == nullptr) recorder::lose_event(recorder::kMpi);
      recorder::lose_event(recorder::kTorch);  // not wanted here
    }
  }).join();

  EXPECT_EQ(recorder::dropped(), 7u);
  EXPECT_EQ(spool::threads_lost_sentence(recorder::header()),
            "1 thread beyond the 1024 that are recorded at a time: 7 of their events");
}

TEST_F(SpoolFixture, AnOpenCallLiesInTheSpoolUntilItEnds) {
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

TEST_F(SpoolFixture, OpenCallsMayEndInAnyOrder) {
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

TEST_F(SpoolFixture, TooDeepNestingIsCountedNotCrashed) {
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

TEST_F(SpoolFixture, ACallThatWasLeftIsClosedByTheNextOne) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  constexpr std::uint32_t kMore = 2 * spool::kMaxOpenCalls;
  const auto jump_out_of_a_call = [&t] {
    // As after a longjmp(): the call has no end.
    alignas(recorder::LayerScope) char frame[sizeof(recorder::LayerScope)];
    const auto* const scope = new (frame) recorder::LayerScope(t, Layer::kMpi);
    EXPECT_TRUE(scope->outermost());
    Event* const call = recorder::open_call(t);
    ASSERT_NE(call, nullptr);
    *call = Event{};
    call->hook = HookId::MPI_Send;
    recorder::begin(*call);
  };
  for (std::uint32_t i = 0; i < kMore; ++i) jump_out_of_a_call();

  EXPECT_LE(t.open_calls, 1u);
  const auto events = all_events();
  ASSERT_EQ(events.size(), kMore - 1);
  EXPECT_EQ(events[0].flags & kUnfinished, kUnfinished);
  EXPECT_GE(events[0].end, events[0].begin);
}

TEST_F(SpoolFixture, AnEventBetweenSlotAndPublishOverrunsNothing) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  use_whole_chunks();
  while (t.next + 1 != t.chunk_end) commit_at(1);
  Event* const slot = recorder::next_slot(t);
  commit_at(2);  // a signal handler
  slot->begin = 3;
  recorder::publish(t);
  for (int i = 0; i < 10; ++i) commit_at(4);

  EXPECT_LE(t.next, t.chunk_end);
  EXPECT_EQ(t.next + spool::kEventsPerChunk, t.chunk_end + 10);
}

TEST_F(SpoolFixture, AThreadWithoutABlockIsCountedOnceAndLooksAgain) {
  make_spool(64);
  ASSERT_NE(this_thread(), nullptr);
  const auto v = view();
  const auto slot_of = [&v](std::uint32_t i) -> auto& { return const_cast<spool::Thread&>(v->thread(i)).slot; };
  for (std::uint32_t i = 1; i < spool::kMaxThreads; ++i) slot_of(i) = spool::ThreadSlot::kLive;

  std::thread([&] {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(recorder::this_thread(), nullptr);
    EXPECT_EQ(recorder::header().threads_lost.load(), 1u);
    slot_of(7) = spool::ThreadSlot::kFree;
    std::thread([] { EXPECT_NE(recorder::this_thread(), nullptr); }).join();
    EXPECT_NE(recorder::this_thread(), nullptr);
  }).join();
  EXPECT_EQ(recorder::header().threads_lost.load(), 1u);
}

TEST_F(SpoolFixture, AProblemIsReportedOnce) {
  make_spool(64);
  for (int i = 0; i < 100; ++i) recorder::problem("mpi", "too many of them");

  EXPECT_EQ(view()->definitions().size(), 1u);
}

TEST_F(SpoolFixture, DefinitionsThatFindNoRoomAreCounted) {
  make_spool(64);
  for (std::uint32_t i = 0; i < spool::kMaxDefinitions + 5; ++i)
    recorder::define(spool::DefinitionKind::kDatatype, i, 1);

  EXPECT_EQ(recorder::header().definitions_lost.load(), 5u);
}

TEST_F(SpoolFixture, AnchorsAreWholeWhileTheRingGoesOn) {
  make_spool(64);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> made{0};
  std::thread adds([&] {
    for (std::int64_t n = 1; !stop; made = n++) recorder::add_anchor({static_cast<Ticks>(n), n, n});
  });
  while (made < 3 * spool::kMaxAnchors) std::this_thread::yield();
  const auto v = view();
  std::size_t torn = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const Anchor& a : v->anchors()) torn += static_cast<std::int64_t>(a.ticks) != a.realtime_ns ? 1 : 0;
  }
  stop = true;
  adds.join();

  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(v->anchors().front().ticks, 1u);
}

TEST_F(SpoolFixture, PendingSlotsRunOutAndComeBack) {
  make_spool(64);
  std::vector<Event*> slots;
  while (Event* const slot = recorder::take_pending()) slots.push_back(slot);
  EXPECT_EQ(slots.size(), spool::kMaxPending);
  EXPECT_EQ(recorder::header().pending_lost.load(), 1u);

  recorder::release_pending(slots.back());

  EXPECT_EQ(recorder::take_pending(), slots.back());
}

TEST_F(SpoolFixture, TheSameTextHasOneId) {
  make_spool(64);
  std::set<StringId> ids;
  std::vector<std::thread> threads;
  std::mutex mutex;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const StringId id = recorder::intern("name " + std::to_string(i));
        std::lock_guard lock(mutex);
        ids.insert(id);
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(ids.size(), 1000u);
  for (const StringId id : ids) EXPECT_EQ(recorder::text_of(id).substr(0, 5), "name ");
}

TEST_F(SpoolFixture, LongTextsAreCutAndEndWithDots) {
  make_spool(64);
  const std::string_view text = recorder::text_of(recorder::intern(std::string(100'000, 'x')));

  EXPECT_EQ(text.size(), spool::kMaxName);
  EXPECT_TRUE(text.ends_with("x..."));
}

TEST_F(SpoolFixture, LongDefinitionsKeepTheirText) {
  make_spool(64);
  const std::string ranks(50'000, '7');

  EXPECT_EQ(recorder::text_of(recorder::intern(ranks, 1 << 20)), ranks);
}

TEST_F(SpoolFixture, AFullArenaLosesNamesAndCounts) {
  make_spool(64);  // 256 KiB of texts
  for (int i = 0; i < 2000; ++i) recorder::intern(std::string(400, 'a') + std::to_string(i));

  EXPECT_GT(recorder::header().strings_lost.load(), 0u);
  EXPECT_EQ(recorder::intern(std::string(400, 'b')), 0u);
}

TEST_F(SpoolFixture, ShortTextsOfEveryLengthAreToldApart) {
  make_spool(64);
  std::set<StringId> ids;
  for (int length = 1; length <= 64; ++length) {
    for (const char c : {'a', 'b'}) ids.insert(recorder::intern(std::string(static_cast<std::size_t>(length), c)));
  }

  EXPECT_EQ(ids.size(), 128u);
}

TEST_F(SpoolFixture, AWindowIsClosedOnceByTheFirst) {
  make_spool(64);
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);

  recorder::close_window(*window, 200, 0, spool::WindowEnd::kLimit, 0);
  recorder::close_window(*window, 300, 0, spool::WindowEnd::kSchedule, 0);

  EXPECT_EQ(window->end.load(), 200u);
  EXPECT_EQ(window->ended_by.load(), spool::WindowEnd::kLimit);
}

TEST_F(SpoolFixture, MoreUnwrittenWindowsThanPlacesAreRefused) {
  make_spool(64);
  for (std::uint32_t i = 0; i < spool::kMaxWindows; ++i) {
    spool::Window* const window = recorder::open_window(i + 1, spool::kNoMark);
    ASSERT_NE(window, nullptr);
    recorder::close_window(*window, i + 2, 0, spool::WindowEnd::kSchedule, 0);
  }

  EXPECT_EQ(recorder::open_window(5000, spool::kNoMark), nullptr);
}

TEST(DivideMemory, StaysInsideTheBudget) {
  for (const std::uint64_t budget : {recorder::kLeastRoom, recorder::kLeastMemory, std::uint64_t{32} << 20,
                                     std::uint64_t{256} << 20, std::uint64_t{2} << 30, std::uint64_t{1} << 40}) {
    recorder::SpoolSize size;
    const std::uint64_t device = budget / 20;
    ASSERT_TRUE(recorder::divide_memory(budget, device, size));
    EXPECT_GE(size.chunks, 16u) << budget;
    // The writer's index takes an eighth of the size of the events, and may double once as it grows.
    const std::uint64_t index = std::uint64_t{size.chunks} * spool::kChunkBytes / 4;
    EXPECT_LE(recorder::spool_bytes(size) + index + recorder::kWriterBytes + device, budget);
  }
  recorder::SpoolSize size;
  EXPECT_FALSE(recorder::divide_memory(recorder::kLeastRoom - 1, 0, size));
}

// Device activities come in any order of time, and the second half of one has no time of its own.
TEST_F(SpoolFixture, AChunkOfTheDeviceLaneIsKeptForItsLatestEvent) {
  make_spool(4);
  recorder::tend_pool([] { return Ticks{1}; }, 4);
  spool::Thread* const lane = recorder::device_lane();
  Event work;
  work.hook = HookId::kKernel;
  work.begin = 4000;
  work.end = 5000;
  recorder::commit(*lane, work);
  work.begin = work.end = 10;
  for (std::uint32_t i = 0; i < spool::kEventsPerChunk; ++i) recorder::commit(*lane, work);

  recorder::tend_pool([] { return Ticks{4500}; }, 4);
  EXPECT_EQ(all_events().size(), spool::kEventsPerChunk + 1);

  recorder::tend_pool([] { return Ticks{6000}; }, 4);
  EXPECT_EQ(all_events().size(), 1u);
}

}  // namespace
}  // namespace profshim
