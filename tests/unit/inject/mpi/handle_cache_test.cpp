#include "inject/mpi/handle_cache.h"

#include <gtest/gtest.h>

#include <memory>

namespace profshim::mpi {
namespace {

TEST(HandleCache, FindsWhatWasInserted) {
  const auto cache = std::make_unique<HandleCache>();

  cache->insert(0x44000000, 7);

  EXPECT_EQ(cache->find(0x44000000), 7u);
  EXPECT_EQ(cache->find(0x44000001), std::nullopt);
}

TEST(HandleCache, ForgetsEveryCopyOfARemovedHandle) {
  const auto cache = std::make_unique<HandleCache>();
  cache->insert(0x1000, 1);
  cache->insert(0x1000, 2);

  cache->remove(0x1000);

  EXPECT_EQ(cache->find(0x1000), std::nullopt);
}

TEST(HandleCache, ReusesSlotsOfRemovedHandles) {
  const auto cache = std::make_unique<HandleCache>();

  for (std::uint64_t i = 0; i < 1000000; ++i) {
    cache->insert(0x1000 + 8 * i, i);
    ASSERT_EQ(cache->find(0x1000 + 8 * i), i);
    cache->remove(0x1000 + 8 * i);
  }
}

TEST(HandleCache, StaysUsableWhenFull) {
  const auto cache = std::make_unique<HandleCache>();

  for (std::uint64_t i = 0; i < 20000; ++i) cache->insert(0x1000 + 8 * i, i);

  int found = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto value = cache->find(0x1000 + 8 * i);
    if (!value) continue;
    EXPECT_EQ(*value, i);
    ++found;
  }
  EXPECT_GT(found, 8000);
}

}  // namespace
}  // namespace profshim::mpi
