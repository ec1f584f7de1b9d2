#include <gtest/gtest.h>

#include <cstring>

#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using SpoolViewTest = test::SpoolFixture;

TEST_F(SpoolViewTest, ASpoolOnDiskReadsLikeTheLiveOne) {
  make_spool(64);
  commit_at(42);
  std::string why_not;

  const auto from_file = spool::View::open(recorder::path(), why_not);

  ASSERT_NE(from_file, nullptr) << why_not;
  EXPECT_EQ(from_file->header().pid, getpid());
  bool found = false;
  from_file->for_each_run([&found](const spool::Run& run) { found |= run.count == 1 && run.events->begin == 42; });
  EXPECT_TRUE(found);
}

TEST_F(SpoolViewTest, OffsetsOutsideTheFileAreRefused) {
  make_spool(64);
  std::vector<char> copy_bytes(recorder::size() + 64);
  char* const copy = copy_bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(copy_bytes.data()) % 64) % 64;
  std::memcpy(copy, recorder::data(), recorder::size());
  auto* const header = reinterpret_cast<spool::SpoolHeader*>(copy);
  std::string why_not;
  ASSERT_NE(spool::View::in_memory(copy, recorder::size(), why_not), nullptr) << why_not;

  header->marks_at = header->file_bytes - 64;
  EXPECT_EQ(spool::View::in_memory(copy, recorder::size(), why_not), nullptr);
  EXPECT_EQ(why_not, "damaged: the step boundaries lie outside the file");

  header->magic[0] = 'X';
  EXPECT_EQ(spool::View::in_memory(copy, recorder::size(), why_not), nullptr);
  EXPECT_EQ(why_not, "not a buffer file (spool) of profshim");
}

TEST_F(SpoolViewTest, StringsOutOfRangeAreEmpty) {
  make_spool(64);

  EXPECT_EQ(view()->string(0), "");
  EXPECT_EQ(view()->string(0xffffffff), "");
}

TEST(SpoolView, ReportsWhyAFileIsNoSpool) {
  test::TemporaryFolder folder;
  std::string why_not;

  EXPECT_EQ(spool::View::open(folder.path() + "/none", why_not), nullptr);
  EXPECT_EQ(why_not, "No such file or directory");
}

}  // namespace
}  // namespace profshim
