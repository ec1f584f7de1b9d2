#include "analysis/summary/phases_view.h"

#include <gtest/gtest.h>

#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

TEST(PhasesView, AddsUpOccurrencesAndWhatIsInside) {
  const std::string actor = "\"phase\": \"actor\"", sync = "\"phase\": \"sync\", \"outer phases\": \"actor\"";
  const Timeline timeline = hand_made(3, {{"phase", "actor", 0, 100, 9},
                                          {"phase", "actor", 200, 300, 9},
                                          {"phase", "sync", 250, 50, 10},
                                          {"cpu_op", "MPI_Bcast", 10, 5, 1, actor},
                                          {"cpu_op", "MPI_Barrier", 260, 5, 1, sync},
                                          {"cpu_op", "outside", 150, 5, 1},
                                          {"kernel", "gemm", 20, 40, 7, actor},
                                          {"kernel", "copy", 270, 60, 7, sync}});
  PhasesView phases;

  phases.add(timeline, 3);
  const View view = phases.finish();

  EXPECT_EQ(row(view, "phases", {{"phase", "actor"}}), (std::map<std::string, std::string>{{"rank", "3"},
                                                                                           {"phase", "actor"},
                                                                                           {"occurrences", "2"},
                                                                                           {"total_us", "400"},
                                                                                           {"mean_us", "200"},
                                                                                           {"longest_us", "300"},
                                                                                           {"share_percent", "-"},
                                                                                           {"calls", "2"},
                                                                                           {"device_activities", "2"},
                                                                                           {"device_us", "100"}}));
  EXPECT_EQ(row(view, "phases", {{"phase", "sync"}})["calls"], "1");
  EXPECT_EQ(row(view, "phases", {{"phase", "sync"}})["device_us"], "60");
}

TEST(PhasesView, HasTheMeanOfTheCountersOfWholeOccurrences) {
  PhasesView phases;
  phases.add(
      hand_made(0, {{"phase", "actor", 0, 10, 9, "\"instructions\": 3000, \"cycles\": 2000, \"counted (%)\": 50"},
                    {"phase", "actor", 20, 10, 9, "\"instructions\": 1000, \"cycles\": 2000"},
                    {"phase", "actor", 40, 10, 9, "\"resumed\": true, \"instructions\": 500, \"cycles\": 1000"},
                    {"phase", "actor", 60, 10, 9},
                    {"phase", "sync", 80, 10, 9}}),
      0);

  const View view = phases.finish();
  auto actor = row(view, "phases", {{"phase", "actor"}}), sync = row(view, "phases", {{"phase", "sync"}});

  EXPECT_EQ(actor["instructions"], "2250");
  EXPECT_EQ(actor["cycles"], "2500");
  EXPECT_EQ(actor["ipc"], "0.9");
  EXPECT_EQ(actor["counted_percent"], "50");
  EXPECT_EQ(actor.count("page_faults"), 0u);
  EXPECT_EQ(sync["instructions"], "-");
}

TEST(PhasesView, AGeneratorThatGoesOnIsNoOccurrence) {
  PhasesView phases;

  phases.add(hand_made(0, {{"phase", "data", 0, 10, 9},
                           {"phase", "data", 50, 20, 9, "\"resumed\": true"},
                           {"phase", "data", 90, 10, 9}}),
             0);

  const View view = phases.finish();
  EXPECT_EQ(row(view, "phases", {{"phase", "data"}})["occurrences"], "2");
  EXPECT_EQ(row(view, "phases", {{"phase", "data"}})["total_us"], "40");
}

TEST(PhasesView, ShareIsThatOfWholeSteps) {
  PhasesView phases;

  phases.add(hand_made(0, {{"user_annotation", "ProfilerStep#1", 0, 100, 1},
                           {"user_annotation", "ProfilerStep#2", 100, 100, 1},
                           {"phase", "actor", 50, 80, 9},
                           {"phase", "actor", 190, 100, 9}}),
             0);

  const View view = phases.finish();
  EXPECT_EQ(row(view, "phases", {{"phase", "actor"}})["total_us"], "180");
  EXPECT_EQ(row(view, "phases", {{"phase", "actor"}})["share_percent"], "45");
}

TEST(PhasesView, SaysHowToNamePhases) {
  PhasesView phases;

  phases.add(hand_made(0, {{"cpu_op", "a", 0, 5}}), 0);

  EXPECT_EQ(phases.finish().notes.at(0), "No phases: name them with [[phase]] in the spec");
}

}  // namespace
}  // namespace profshim::analysis_detail::test
