#include "device/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace profshim::device {
namespace {

int taken(BufferPool& pool) {
  int count = 0;
  while (pool.take(true).data != nullptr) ++count;
  return count;
}

TEST(BufferGrowth, AFewAreMadeAtFirstAndTheOthersOneByOne) {
  constexpr std::size_t kWanted = 20;
  BufferPool pool;
  ASSERT_TRUE(pool.make(kWanted, 4096));
  int made = 0;
  while (pool.make_more()) ++made;
  EXPECT_GT(made, 0);
  EXPECT_LT(made, static_cast<int>(kWanted)) << "some exist at once";
  EXPECT_FALSE(pool.make_more());
  ASSERT_TRUE(pool.make(kWanted, 4096));
  EXPECT_FALSE(pool.make_more()) << "a second call makes none";
  EXPECT_EQ(taken(pool), static_cast<int>(kWanted)) << "not counting the reserve";
}

TEST(BufferGrowth, BuffersMadeLaterCanBeTaken) {
  BufferPool pool;
  ASSERT_TRUE(pool.make(20, 4096));
  const int at_first = taken(pool);
  ASSERT_TRUE(pool.make_more());
  EXPECT_EQ(taken(pool), 1);
  EXPECT_LT(at_first, 20);
}

// CUPTI before 12.9 crashes on a null buffer.
TEST(BufferGrowth, ARequestThatMayNotBeRefusedGetsABufferBeforeAnyIsMade) {
  BufferPool pool;
  const BufferPool::Room room = pool.take(/*may_refuse=*/false);
  ASSERT_NE(room.data, nullptr);
  EXPECT_GT(room.bytes, 4096u);
  pool.complete(room.data, room.bytes);
  EXPECT_EQ(pool.take_completed().size(), 0u);
}

TEST(BufferGrowth, IfAllAreFullAnUnreadOneIsHandedOutAgain) {
  BufferPool pool;
  ASSERT_TRUE(pool.make(2, 4096));
  std::vector<std::uint8_t*> mine;
  for (int i = 0; i < 6; ++i) mine.push_back(pool.take(false).data);  // the two buffers and kReserve more
  for (std::uint8_t* const buffer : mine) pool.complete(buffer, 100);

  std::set<std::uint8_t*> again;
  for (int i = 0; i < 6; ++i) again.insert(pool.take(false).data);
  EXPECT_EQ(again, std::set<std::uint8_t*>(mine.begin(), mine.end())) << "no buffer is handed out twice";
  EXPECT_EQ(pool.counts().overwritten, 6u);
  EXPECT_EQ(pool.take_completed().size(), 0u);
}

TEST(BufferGrowth, EachOfManyThreadsHasItsOwnBufferHoweverFewThereAre) {
  constexpr int kThreads = 64;
  BufferPool pool;
  ASSERT_TRUE(pool.make(1, 4096));
  std::vector<std::uint8_t*> taken_by(kThreads);
  std::atomic<int> spoilt{0};
  std::barrier all_have_one(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const BufferPool::Room room = pool.take(/*may_refuse=*/false);
        std::memset(room.data, i + 1, room.bytes);
        taken_by[static_cast<std::size_t>(i)] = room.data;
        all_have_one.arrive_and_wait();
        for (std::size_t at = 0; at < room.bytes; ++at) {
          if (room.data[at] != i + 1) {
            ++spoilt;
            break;
          }
        }
        if (i == 0) {
          EXPECT_EQ(std::set<std::uint8_t*>(taken_by.begin(), taken_by.end()).size(), std::size_t{kThreads});
        }
        all_have_one.arrive_and_wait();
        pool.complete(room.data, room.bytes);
        all_have_one.arrive_and_wait();
        if (i == 0) {
          for (const BufferPool::Filled& one : pool.take_completed()) pool.recycle(one.data);
        }
        all_have_one.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(spoilt.load(), 0);
  const auto beside = kThreads - static_cast<int>(1 + BufferPool::kReserve);
  EXPECT_EQ(pool.counts().unread, 50u * static_cast<unsigned>(beside));
  EXPECT_EQ(pool.counts().foreign, 0u);
}

// Another CUPTI client may free our buffers. The pool must not touch written-off buffers.
TEST(BufferGrowth, UnreadBuffersAreWrittenOffLikeTheOthers) {
  BufferPool pool;
  std::uint8_t* const mine = pool.take(/*may_refuse=*/false).data;
  EXPECT_EQ(pool.write_off_outstanding(BufferPool::kNoneOutstanding), 1u);
  std::free(mine);

  std::uint8_t* const next = pool.take(/*may_refuse=*/false).data;
  ASSERT_NE(next, nullptr);
  pool.complete(next, 8);
  EXPECT_EQ(pool.counts().unread, 1u);
}

TEST(BufferGrowth, ASmallNumberIsMadeAtOnce) {
  BufferPool pool;
  ASSERT_TRUE(pool.make(2, 4096));
  EXPECT_FALSE(pool.make_more());
  EXPECT_EQ(taken(pool), 2);
}

}  // namespace
}  // namespace profshim::device
