#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using recorder::this_thread;
using ChunkPoolTest = test::SpoolFixture;

TEST_F(ChunkPoolTest, EventLandsInTheSpool) {
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

TEST_F(ChunkPoolTest, DropsAndCountsNewestEventsIfThePoolIsExhausted) {
  make_spool(16);
  recorder::tend_pool([] { return Ticks{1}; }, 16);
  // Headers of short runs of slots take the room of up to 16 events.
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

TEST_F(ChunkPoolTest, ChunksBeforeTheOldestWindowAreFreed) {
  make_spool(16);
  recorder::tend_pool([] { return Ticks{0}; }, 16);
  for (std::uint64_t i = 0; i < 100ull * spool::kEventsPerChunk; ++i) {
    commit_at(i + 1);
    if (i % spool::kEventsPerChunk == 0) recorder::tend_pool([] { return Ticks{0}; }, 8);
  }

  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(ChunkPoolTest, ChunksOfAnUnpublishedWindowStay) {
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

TEST_F(ChunkPoolTest, EveryThreadHasItsOwnChunks) {
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

TEST_F(ChunkPoolTest, SharedChunksAreFreed) {
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

TEST_F(ChunkPoolTest, AnEventBetweenSlotAndPublishOverrunsNothing) {
  make_spool(64);
  spool::Thread& t = *this_thread();
  use_whole_chunks();
  while (t.next + 1 != t.chunk_end) commit_at(1);
  Event* const slot = recorder::next_slot(t);
  commit_at(2);  // as a signal handler may do
  slot->begin = 3;
  recorder::publish(t);
  for (int i = 0; i < 10; ++i) commit_at(4);

  EXPECT_LE(t.next, t.chunk_end);
  EXPECT_EQ(t.next + spool::kEventsPerChunk, t.chunk_end + 10);
}

// Device events are unordered, so the latest event may be anywhere in a chunk.
TEST_F(ChunkPoolTest, DeviceChunkIsKeptForItsLatestEvent) {
  make_spool(4);
  recorder::tend_pool([] { return Ticks{1}; }, 4);
  spool::Thread* const block = recorder::device_block();
  Event work;
  work.hook = HookId::kKernel;
  work.begin = 4000;
  work.end = 5000;
  recorder::commit(*block, work);
  work.begin = work.end = 10;
  for (std::uint32_t i = 0; i < spool::kEventsPerChunk; ++i) recorder::commit(*block, work);

  recorder::tend_pool([] { return Ticks{4500}; }, 4);
  EXPECT_EQ(all_events().size(), spool::kEventsPerChunk + 1);

  recorder::tend_pool([] { return Ticks{6000}; }, 4);
  EXPECT_EQ(all_events().size(), 1u);
}

}  // namespace
}  // namespace profshim
