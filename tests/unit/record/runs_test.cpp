#include <gtest/gtest.h>

#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using recorder::this_thread;
using RunsTest = test::SpoolFixture;

TEST_F(RunsTest, ManyThreadsWithFewEventsShareChunks) {
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

TEST_F(RunsTest, AThreadContinuesTheRunOfOneThatHasEnded) {
  constexpr std::uint64_t kThreads = 3000, kEach = 10;
  make_spool(64);
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

TEST_F(RunsTest, EachRunOfAChunkHasItsThread) {
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

TEST_F(RunsTest, RunsStayIntactWhileManyThreadsLeaveAndTakeThem) {
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

}  // namespace
}  // namespace profshim
