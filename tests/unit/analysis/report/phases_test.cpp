#include <gtest/gtest.h>

#include "analysis/report/sections.h"
#include "analysis/summary/phases_view.h"
#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

/// In each rank's step of 1 ms, the phase "rollout" takes 100 us, and "actor" 200 us for each number of the rank.
View phases_of_ranks(const std::vector<int>& ranks) {
  PhasesView phases;
  for (const int rank : ranks) {
    phases.add(hand_made(rank, {{"user_annotation", "ProfilerStep#1", 0, 1000, 1},
                                {"phase", "rollout", 0, 100, 9},
                                {"phase", "actor", 100, 200.0 * rank, 9},
                                {"kernel", "gemm", 110, 40, 7, "\"phase\": \"actor\""}}),
               rank);
  }
  return phases.finish();
}

TEST(ReportPhases, NameTheSlowestRankOfEachPhase) {
  const View view = phases_of_ranks({1, 2, 3});

  const ReportSection section = phases_section(view);

  const View shown{.key = "phases", .tables = section.tables, .notes = {}};
  EXPECT_EQ(row(shown, "phases", {{"phase", "actor"}}), (std::map<std::string, std::string>{{"phase", "actor"},
                                                                                            {"occurrences", "3"},
                                                                                            {"total_us", "1200"},
                                                                                            {"share_percent", "40"},
                                                                                            {"median_us", "400"},
                                                                                            {"slowest_rank", "3"},
                                                                                            {"slowest_us", "600"},
                                                                                            {"device_us", "120"}}));
  EXPECT_EQ(row(shown, "phases", {{"phase", "rollout"}})["slowest_rank"], "-");
  EXPECT_EQ(row(shown, "phases-of-ranks", {{"phase", "actor"}, {"rank", "2"}})["share_percent"], "40");
  ASSERT_EQ(section.plots.size(), 1u);
  EXPECT_NE(section.plots[0].key, section.key) << "both are ids of the page";
  EXPECT_EQ(section.plots[0].series.at(0).label, "actor");
  EXPECT_EQ(section.plots[0].series.at(0).values, (std::vector<double>{200, 400, 600}));
}

TEST(ReportPhases, AreInTheMainFindings) {
  std::vector<ReportFinding> verdict;

  judge_phases(phases_of_ranks({1, 2, 3}), verdict);

  ASSERT_EQ(verdict.size(), 2u);
  EXPECT_EQ(verdict[0].text,
            "Phase actor takes 40 % of the step time; rank 3 is slowest, with 600 µs for an occurrence against 400 µs "
            "(median of the ranks).");
  EXPECT_EQ(verdict[1].text, "Phase rollout takes 10 % of the step time.");
}

TEST(ReportPhases, HaveNoSectionInTracesWithoutPhases) {
  PhasesView phases;
  phases.add(hand_made(0, {{"cpu_op", "a", 0, 5}}), 0);

  EXPECT_TRUE(phases_section(phases.finish()).tables.empty());
}

}  // namespace
}  // namespace profshim::analysis_detail::test
