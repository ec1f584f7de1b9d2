// The buffers for CUPTI are made a few at first, since a step of the job waits for them, and the others afterwards.
#include <gtest/gtest.h>

#include "device/buffer_pool.h"

namespace profshim::device {
namespace {

int taken(BufferPool& pool) {
  int count = 0;
  while (pool.take(true) != nullptr) ++count;
  return count;
}

TEST(BufferGrowth, TheFirstOnesAreFewAndTheRestComesOneByOne) {
  constexpr std::size_t kWanted = 20;
  BufferPool pool;
  ASSERT_TRUE(pool.make(kWanted, 4096));
  int made = 0;
  while (pool.make_more()) ++made;
  EXPECT_GT(made, 0);
  EXPECT_LT(made, static_cast<int>(kWanted)) << "some are there at once";
  EXPECT_FALSE(pool.make_more());
  ASSERT_TRUE(pool.make(kWanted, 4096));
  EXPECT_FALSE(pool.make_more()) << "a second call makes none";
  EXPECT_EQ(taken(pool), static_cast<int>(kWanted)) << "beside the reserve";
}

TEST(BufferGrowth, WhatIsMadeLaterCanBeTaken) {
  BufferPool pool;
  ASSERT_TRUE(pool.make(20, 4096));
  const int at_first = taken(pool);
  ASSERT_TRUE(pool.make_more());
  EXPECT_EQ(taken(pool), 1);
  EXPECT_LT(at_first, 20);
}

TEST(BufferGrowth, AFewAreAllMadeAtOnce) {
  BufferPool pool;
  ASSERT_TRUE(pool.make(2, 4096));
  EXPECT_FALSE(pool.make_more());
  EXPECT_EQ(taken(pool), 2);
}

}  // namespace
}  // namespace profshim::device
