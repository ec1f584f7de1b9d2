#include "profshim/output/job_lines.h"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/temporary_folder.h"

namespace profshim::output {
namespace {

TEST(JobLines, OneSpeaksForEachMatterAndRun) {
  const test::TemporaryFolder folder;

  EXPECT_TRUE(is_first_to_say(folder.path(), "disk", 7));
  EXPECT_FALSE(is_first_to_say(folder.path(), "disk", 7));
  EXPECT_TRUE(is_first_to_say(folder.path(), "windows", 7));
  EXPECT_TRUE(is_first_to_say(folder.path(), "disk", 8));
}

TEST(JobLines, AreRatherSaidTwiceThanNever) {
  EXPECT_TRUE(is_first_to_say("/no/such/folder", "disk", 7));
  EXPECT_TRUE(is_first_to_say("/no/such/folder", "disk", 7));
}

TEST(JobLines, MarksStayWhileARankRecords) {
  const test::TemporaryFolder folder;
  const std::string claim = folder.path() + "/.claim-rank1";
  std::ofstream(claim) << "x";
  is_first_to_say(folder.path(), "disk", 7);

  forget_what_was_said(folder.path(), 7);
  EXPECT_FALSE(is_first_to_say(folder.path(), "disk", 7));

  std::remove(claim.c_str());
  forget_what_was_said(folder.path(), 7);
  EXPECT_TRUE(is_first_to_say(folder.path(), "disk", 7));
}

}  // namespace
}  // namespace profshim::output
