#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using StringTableTest = test::SpoolFixture;

TEST_F(StringTableTest, TheSameTextHasOneId) {
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

TEST_F(StringTableTest, LongTextsAreCutAndEndWithDots) {
  make_spool(64);
  const std::string_view text = recorder::text_of(recorder::intern(std::string(100'000, 'x')));

  EXPECT_EQ(text.size(), spool::kMaxName);
  EXPECT_TRUE(text.ends_with("x..."));
}

TEST_F(StringTableTest, LongDefinitionsKeepTheirText) {
  make_spool(64);
  const std::string ranks(50'000, '7');

  EXPECT_EQ(recorder::text_of(recorder::intern(ranks, 1 << 20)), ranks);
}

TEST_F(StringTableTest, AFullArenaLosesNamesAndCounts) {
  make_spool(64);
  for (int i = 0; i < 2000; ++i) recorder::intern(std::string(400, 'a') + std::to_string(i));

  EXPECT_GT(recorder::header().strings_lost.load(), 0u);
  EXPECT_EQ(recorder::intern(std::string(400, 'b')), 0u);
}

TEST_F(StringTableTest, ShortTextsOfEveryLengthAreDistinct) {
  make_spool(64);
  std::set<StringId> ids;
  for (int length = 1; length <= 64; ++length) {
    for (const char c : {'a', 'b'}) ids.insert(recorder::intern(std::string(static_cast<std::size_t>(length), c)));
  }

  EXPECT_EQ(ids.size(), 128u);
}

}  // namespace
}  // namespace profshim
