#include "inject/torch/pending_ranges.h"

#include "unit/spool_fixture.h"

namespace profshim::torch {
namespace {

class TorchAsync : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(4); }
  void TearDown() override {
    for (const void* key : keys_) end_pending(*recorder::this_thread(), key, 1);
    EXPECT_FALSE(has_pending());
    SpoolFixture::TearDown();
  }
  void start(std::uint64_t address, Ticks begin) {
    Event range;
    range.hook = HookId::kTorchRange;
    range.flags = kStartEnd;
    range.begin = begin;
    keys_.push_back(key(address));
    make_pending(*recorder::this_thread(), range, key(address));
  }
  static bool end(std::uint64_t address, Ticks at) { return end_pending(*recorder::this_thread(), key(address), at); }
  static const void* key(std::uint64_t address) { return reinterpret_cast<const void*>(address); }
  static int pending_slots() {
    const auto v = view();
    int used = 0;
    for (std::uint32_t i = 0; i < v->header().pending_count; ++i) used += v->pending(i).begin != 0;
    return used;
  }
  std::vector<const void*> keys_;
};

TEST_F(TorchAsync, AnEndThatComesFirstEndsTheRange) {
  EXPECT_FALSE(end(0x1000, 20));
  start(0x1000, 10);

  ASSERT_EQ(all_events().size(), 1U);
  EXPECT_EQ(all_events()[0].end, 20U);
  EXPECT_FALSE(has_pending());
}

TEST_F(TorchAsync, AnEndFromBeforeTheStartBelongsToAnotherRange) {
  EXPECT_FALSE(end(0x1000, 20));
  start(0x1000, 30);

  EXPECT_TRUE(has_pending());
  EXPECT_TRUE(end(0x1000, 40));
  ASSERT_EQ(all_events().size(), 1U);
  EXPECT_EQ(all_events()[0].begin, 30U);
  EXPECT_EQ(all_events()[0].end, 40U);
  EXPECT_EQ(pending_slots(), 0);
}

TEST_F(TorchAsync, EndsOfUnrecordedRangesLeaveNothingBehind) {
  for (std::uint64_t i = 1; i <= 20000; ++i) end(i * 64, 20);

  EXPECT_FALSE(has_pending()) << "every new range would take the lock";
}

TEST_F(TorchAsync, EndsOfUnrecordedRangesTakeNoPlaceOfAPendingRange) {
  start(0x7f001000, 10);
  for (std::uint64_t i = 1; i <= 20000; ++i) end(i * 64, 20);

  EXPECT_TRUE(end(0x7f001000, 30));
  ASSERT_EQ(all_events().size(), 1U);
  EXPECT_EQ(pending_slots(), 0);
}

TEST_F(TorchAsync, ARangeThatLosesItsPlaceIsCommittedAsUnfinished) {
  constexpr std::uint64_t kRanges = 6000;  // more ranges than there are slots
  for (std::uint64_t i = 1; i <= kRanges; ++i) start(i * 64, i);

  const std::vector<Event> lost = all_events();
  EXPECT_EQ(lost.size() + static_cast<std::size_t>(pending_slots()), kRanges);
  ASSERT_FALSE(lost.empty());
  for (const Event& event : lost) EXPECT_EQ(event.flags, kStartEnd | kUnfinished);
}

TEST_F(TorchAsync, ANewRangeAtTheSameAddressReleasesTheOldOne) {
  start(0x1000, 10);
  forget_pending(*recorder::this_thread(), key(0x1000));

  EXPECT_FALSE(has_pending());
  EXPECT_EQ(pending_slots(), 0);
  ASSERT_EQ(all_events().size(), 1U);
  EXPECT_EQ(all_events()[0].flags, kStartEnd | kUnfinished);
}

}  // namespace
}  // namespace profshim::torch
