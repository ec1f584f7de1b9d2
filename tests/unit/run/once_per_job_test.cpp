#include "profshim/run/once_per_job.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary_folder.h"

namespace profshim::run {
namespace {

TEST(JobLines, OneRankClaimsEachTopicOfARun) {
  const test::TemporaryFolder folder;

  EXPECT_TRUE(claim_job_line(folder.path(), "disk", 7));
  EXPECT_FALSE(claim_job_line(folder.path(), "disk", 7));
  EXPECT_TRUE(claim_job_line(folder.path(), "windows", 7));
  EXPECT_TRUE(claim_job_line(folder.path(), "disk", 8));
}

TEST(JobLines, ArePrintedIfTheMarkCannotBeWritten) {
  EXPECT_TRUE(claim_job_line("/no/such/folder", "disk", 7));
  EXPECT_TRUE(claim_job_line("/no/such/folder", "disk", 7));
}

TEST(SaidFirst, IsTheTextOfTheFirstRank) {
  const test::TemporaryFolder folder;

  EXPECT_EQ(said_first(folder.path(), "steps", 7, ""), "") << "nobody has said anything";
  EXPECT_EQ(said_first(folder.path(), "steps", 7, "a"), "a");
  EXPECT_EQ(said_first(folder.path(), "steps", 7, "b"), "a");
  EXPECT_EQ(said_first(folder.path(), "steps", 7, ""), "a");
  EXPECT_EQ(said_first("/no/such/folder", "steps", 7, "b"), "b");
  remove_job_lines(folder.path(), 7);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Say, ReplacesTheTextOfAnyRank) {
  const test::TemporaryFolder folder;

  say(folder.path(), "steps", 7, "a");
  EXPECT_EQ(said_first(folder.path(), "steps", 7, ""), "a");
  say(folder.path(), "steps", 7, "b");
  EXPECT_EQ(said_first(folder.path(), "steps", 7, "c"), "b");
  say(folder.path(), "steps", 7, "");
  EXPECT_EQ(said_first(folder.path(), "steps", 7, ""), "");
  say("/no/such/folder", "steps", 7, "b");
  remove_job_lines(folder.path(), 7);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Claims, OfOtherRanksAreSeen) {
  const test::TemporaryFolder folder;

  EXPECT_FALSE(is_other_rank_claimed(folder.path(), 1));
  std::ofstream(folder.path() + "/.claim-rank1") << "x";
  EXPECT_FALSE(is_other_rank_claimed(folder.path(), 1));
  EXPECT_TRUE(is_other_rank_claimed(folder.path(), 11));
  EXPECT_FALSE(is_other_rank_claimed("/no/such/folder", 1));
}

TEST(JobLines, MarksStayWhileARankRecords) {
  const test::TemporaryFolder folder;
  const std::string claim = folder.path() + "/.claim-rank1";
  std::ofstream(claim) << "x";
  claim_job_line(folder.path(), "disk", 7);

  remove_job_lines(folder.path(), 7);
  EXPECT_FALSE(claim_job_line(folder.path(), "disk", 7));

  std::remove(claim.c_str());
  remove_job_lines(folder.path(), 7);
  EXPECT_TRUE(claim_job_line(folder.path(), "disk", 7));
}

}  // namespace
}  // namespace profshim::run
