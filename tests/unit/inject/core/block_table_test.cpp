#include "inject/core/block_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace profshim::inject {
namespace {

using Added = BlockTable::Added;

const void* at(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

TEST(BlockTable, ReturnsTheLengthOfABlock) {
  const auto table = std::make_unique<BlockTable>();

  EXPECT_EQ(table->add(at(0x1000), 400).added, Added::kNew);

  EXPECT_EQ(table->remove(at(0x2000)), 0u);
  EXPECT_EQ(table->remove(at(0x1000)), 400u);
  EXPECT_EQ(table->remove(at(0x1000)), 0u);
}

TEST(BlockTable, ReplacesTheLengthOfAKnownBlock) {
  const auto table = std::make_unique<BlockTable>();
  table->add(at(0x1000), 400);

  const BlockTable::Change change = table->add(at(0x1000), 8);

  EXPECT_EQ(change.added, Added::kKnown);
  EXPECT_EQ(change.bytes_before, 400u);
  EXPECT_EQ(table->remove(at(0x1000)), 8u);
}

TEST(BlockTable, HoldsAllOf65536BlocksOneAfterTheOther) {
  const auto table = std::make_unique<BlockTable>();

  int without_room = 0;
  for (std::uint64_t i = 1; i <= 65536; ++i) without_room += table->add(at(i * 512), i).added == Added::kNoRoom ? 1 : 0;

  EXPECT_LT(without_room, 7);
}

TEST(BlockTable, ReportsThatItIsFull) {
  const auto table = std::make_unique<BlockTable>();
  int without_room = 0;

  for (std::uint64_t i = 1; i <= 1 << 20; ++i)
    without_room += table->add(at(i * 64), i).added == Added::kNoRoom ? 1 : 0;

  EXPECT_GT(without_room, 1 << 19);
  EXPECT_EQ(table->remove(at(64)), 1u);
}

TEST(BlockTable, ThreadsDoNotMixUpTheirBlocks) {
  const auto table = std::make_unique<BlockTable>();
  constexpr int kThreads = 4;
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;

  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t round = 1; round <= 2000; ++round) {
        const auto address = [&](std::uint64_t i) {
          return at((i * kThreads + static_cast<std::uint64_t>(t) + 1) * 64);
        };
        for (std::uint64_t i = 0; i < 16; ++i) table->add(address(i), round + i);
        for (std::uint64_t i = 0; i < 16; ++i) wrong[t] += table->remove(address(i)) == round + i ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

}  // namespace
}  // namespace profshim::inject
