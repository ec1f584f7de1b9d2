#include <gtest/gtest.h>

#include <thread>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using recorder::this_thread;
using ThreadBlocksTest = test::SpoolFixture;

TEST_F(ThreadBlocksTest, ThreadsThatEndFreeTheirBlocks) {
  make_spool(256);
  recorder::tend_pool([] { return Ticks{0}; }, 64);
  for (int i = 0; i < 3000; ++i) {
    std::thread([] { commit_at(1); }).join();
    if (i % 16 == 0) recorder::tend_pool([] { return Ticks{0}; }, 64);
  }

  EXPECT_EQ(recorder::header().threads_lost.load(), 0u);
  EXPECT_EQ(recorder::dropped(), 0u);
}

TEST_F(ThreadBlocksTest, EventsOfAThreadWithoutABlockAreDropped) {
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
      recorder::lose_event(recorder::kTorch);
    }
  }).join();

  EXPECT_EQ(recorder::dropped(), 7u);
  EXPECT_EQ(spool::threads_lost_sentence(recorder::header()),
            "7 events of 1 thread were not recorded: at most 1024 threads are recorded at a time");
}

TEST_F(ThreadBlocksTest, ThreadWithoutABlockIsCountedOnceAndTriesAgain) {
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

}  // namespace
}  // namespace profshim
