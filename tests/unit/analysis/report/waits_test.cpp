#include <gtest/gtest.h>

#include <cmath>

#include "analysis/report/stragglers.h"

namespace profshim::analysis_detail::test {
namespace {

void meet(Waits& waits, std::int64_t at_ns, int last, const std::vector<std::pair<int, std::int64_t>>& waited_ns) {
  waits.add({.group = "world",
             .function = "MPI_Barrier",
             .number = at_ns,
             .begin_ns = at_ns,
             .last = last,
             .waited_ns = waited_ns});
}

std::string judged(const Waits& waits, double window_us) {
  std::vector<ReportFinding> verdict;
  waits.judge(window_us, verdict);
  return verdict.empty() ? "" : verdict[0].text;
}

TEST(ReportWaits, NamesTheRankThatOthersWaitedFor) {
  Waits waits;
  for (int i = 0; i < 9; ++i) meet(waits, i, 2, {{0, 1'000'000}, {1, 2'000'000}, {2, 0}, {3, 3'000'000}});
  meet(waits, 9, 0, {{0, 0}, {1, 1'000'000}, {2, 1'000'000}, {3, 1'000'000}});

  EXPECT_EQ(judged(waits, 20'000),
            "Rank 2 came last at 9 of 10 collectives; together the others waited 54.0 ms for it, 95 % of all waiting. "
            "A rank waited 14.2 ms on average, 71 % of the recorded time.");
}

TEST(ReportWaits, NamesNoRankIfAllAreLateInTurn) {
  Waits waits;
  for (int i = 0; i < 12; ++i) {
    std::vector<std::pair<int, std::int64_t>> waited;
    for (int rank = 0; rank < 4; ++rank) waited.emplace_back(rank, rank == i % 4 ? 0 : 1'000'000);
    meet(waits, i, i % 4, waited);
  }

  EXPECT_TRUE(judged(waits, 20'000).starts_with("No rank stands out")) << judged(waits, 20'000);
}

TEST(ReportWaits, NamesNoRankIfWaitingIsShort) {
  Waits waits;
  meet(waits, 0, 1, {{0, 1000}, {1, 0}});

  EXPECT_TRUE(judged(waits, 20'000).starts_with("No rank made others wait for long")) << judged(waits, 20'000);
}

TEST(ReportWaits, NamesAllRanksThatAreEquallyLate) {
  Waits waits;
  for (int i = 0; i < 12; ++i) {
    std::vector<std::pair<int, std::int64_t>> waited;
    for (int rank = 0; rank < 12; ++rank) waited.emplace_back(rank, rank == 4 + i % 3 ? 0 : 1'000'000);
    meet(waits, i, 4 + i % 3, waited);
  }

  EXPECT_TRUE(judged(waits, 20'000).starts_with("Ranks 4-6 came last at 12 of 12")) << judged(waits, 20'000);
}

TEST(ReportWaits, AttributesWaitingToTheLastRank) {
  Waits waits;
  meet(waits, 0, 1, {{0, 5000}, {1, 0}});
  meet(waits, 1, 1, {{0, 7000}, {1, 0}});
  meet(waits, 2, -1, {{0, 0}, {1, 0}});
  ReportSection section;

  waits.fill(section);

  const ReportHeatMap& who = section.heat_maps.at(0);
  EXPECT_DOUBLE_EQ(who.values[0][1], 12);
  EXPECT_DOUBLE_EQ(who.values[1][0], 0);
  EXPECT_TRUE(std::isnan(who.values[0][0]));
  EXPECT_EQ(section.tables.at(0).rows[1][2], Cell(std::int64_t{2}));
}

TEST(ReportWaits, ManyCollectivesAndRanksAreSummedUpWithANote) {
  Waits waits;
  std::vector<std::pair<int, std::int64_t>> waited;
  for (int rank = 0; rank < 100; ++rank) waited.emplace_back(rank, rank == 70 ? 0 : 2000);
  for (int i = 0; i < 250; ++i) meet(waits, i, 70, waited);
  ReportSection section;

  waits.fill(section);

  const ReportHeatMap& all = section.heat_maps.at(1);
  EXPECT_EQ(all.rows.size(), 64u);
  EXPECT_EQ(all.columns.size(), 84u);
  EXPECT_DOUBLE_EQ(all.values[0][0], 2);
  EXPECT_EQ(section.heat_maps.at(0).rows.size(), 16u);
  std::string notes;
  for (const std::string& note : section.notes) notes += note + "\n";
  EXPECT_NE(notes.find("Each column of the second map is the mean of 3 consecutive collectives of 250."),
            std::string::npos);
  EXPECT_NE(notes.find("of 100 ranks, 16 in the first and 64 in the second"), std::string::npos) << notes;
  bool has_late = false;
  for (const std::string& row : all.rows) has_late = has_late || row == "rank 70";
  EXPECT_TRUE(has_late);
}

}  // namespace
}  // namespace profshim::analysis_detail::test
