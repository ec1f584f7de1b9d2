#include "inject/core/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace profshim::inject {
namespace {

/// Each load is one probe of a search.
class CountedHandle {
 public:
  static inline std::size_t loads = 0;

  std::uint64_t load(std::memory_order order) const {
    ++loads;
    return word_.load(order);
  }
  void store(std::uint64_t value, std::memory_order order) { word_.store(value, order); }
  template <class... Orders>
  bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t value, Orders... orders) {
    return word_.compare_exchange_strong(expected, value, orders...);
  }

 private:
  std::atomic<std::uint64_t> word_{0};
};
struct CountedEntry {
  CountedHandle handle;
};
struct Entry {
  std::atomic<std::uint64_t> handle{0};
  std::uint64_t value = 0;
};

constexpr std::size_t kSlots = 4096;

std::uint64_t handle_at(std::uint64_t i) { return 0x7f0000000000 + i * 64; }

template <class Table>
auto* add(Table& table, std::uint64_t handle) {
  auto* const entry = table.claim(handle);
  if (entry != nullptr) table.publish(*entry, handle);
  return entry;
}

double probes_of_unknown_handles(HandleTable<CountedEntry, kSlots>& table) {
  constexpr int kSearches = 1000;
  CountedHandle::loads = 0;
  for (int i = 0; i < kSearches; ++i) EXPECT_EQ(table.find(0x100000 + static_cast<std::uint64_t>(i) * 16), nullptr);
  return static_cast<double>(CountedHandle::loads) / kSearches;
}

TEST(HandleTable, FindsWhatIsPublishedUntilItIsRemoved) {
  const auto table = std::make_unique<HandleTable<Entry, kSlots>>();

  Entry* const entry = table->claim(0x1000);
  EXPECT_EQ(table->find(0x1000), nullptr) << "not published";
  table->publish(*entry, 0x1000);
  EXPECT_EQ(table->find(0x1000), entry);
  EXPECT_EQ(table->find(0), nullptr);

  EXPECT_EQ(table->remove(0x1000), entry);
  EXPECT_EQ(table->find(0x1000), nullptr);
  EXPECT_EQ(table->remove(0x1000), nullptr);
  table->restore(*entry, 0x1000);
  EXPECT_EQ(table->find(0x1000), entry);
}

TEST(HandleTable, RestoresNoEntryThatIsInUseAgain) {
  const auto table = std::make_unique<HandleTable<Entry, kSlots>>();
  Entry* const entry = add(*table, 0x1000);
  table->remove(0x1000);
  EXPECT_EQ(table->claim(0x1000), entry);

  table->restore(*entry, 0x1000);
  EXPECT_EQ(table->find(0x1000), nullptr) << "claimed, and not published yet";
  table->publish(*entry, 0x1000);
  EXPECT_EQ(table->remove(0x1000), entry);
  EXPECT_EQ(table->find(0x1000), nullptr);
}

TEST(HandleTable, ASearchStaysShortHoweverManyEntriesWereRemoved) {
  const auto table = std::make_unique<HandleTable<CountedEntry, kSlots>>();
  for (std::uint64_t i = 0; i < 8; ++i) add(*table, handle_at(i));
  for (std::uint64_t i = 8; i < 10 * kSlots; ++i) {
    add(*table, handle_at(i));
    EXPECT_NE(table->remove(handle_at(i)), nullptr);
  }

  EXPECT_LT(probes_of_unknown_handles(*table), 2);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_NE(table->find(handle_at(i)), nullptr);
}

TEST(HandleTable, ASearchIsShortAgainAfterTheTableWasFull) {
  const auto table = std::make_unique<HandleTable<CountedEntry, kSlots>>();
  for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_NE(add(*table, handle_at(i)), nullptr);
  EXPECT_EQ(table->claim(handle_at(kSlots)), nullptr) << "full";
  for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_NE(table->find(handle_at(i)), nullptr);

  for (std::uint64_t i = 0; i < kSlots; ++i) EXPECT_NE(table->remove(handle_at(i)), nullptr);

  EXPECT_LT(probes_of_unknown_handles(*table), 2);
}

TEST(HandleTable, EachThreadFindsItsOwnHandlesWhileOthersComeAndGo) {
  constexpr std::uint64_t kThreads = 4, kRounds = 5000, kAtATime = 8;
  const auto table = std::make_unique<HandleTable<Entry, 64>>();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto own = [t](std::uint64_t round) { return handle_at((t << 32) + round); };
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        Entry* const entry = table->claim(own(round));
        entry->value = own(round);
        table->publish(*entry, own(round));
        const std::uint64_t first = round < kAtATime ? 0 : round - kAtATime + 1;
        for (std::uint64_t i = first; i <= round; ++i) {
          const Entry* const found = table->find(own(i));
          if (found == nullptr || found->value != own(i)) ++wrong;
        }
        if (round + 1 >= kAtATime && table->remove(own(first)) == nullptr) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace profshim::inject
