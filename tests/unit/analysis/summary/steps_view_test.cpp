#include "analysis/summary/steps_view.h"

#include <gtest/gtest.h>

#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

// The events are from case one_process in key-averages-vectors.json.
std::vector<HandEvent> golden() {
  return {{"user_annotation", "ProfilerStep#4", 0, 1000},
          {"user_annotation", "ProfilerStep#5", 1000, 500},
          {"kernel", "ampere_bf16_gemm", 200, 200, 7},
          {"kernel", "ampere_bf16_gemm", 400, 200.5, 7},
          {"kernel", "elementwise_kernel", 600.5, 39.5, 7},
          {"kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 350, 410, 13},
          {"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 80, 100, 14}};
}

View steps_of(const std::vector<Timeline>& timelines, double gap_us = 1000) {
  StepsView steps(gap_us);
  for (const Timeline& timeline : timelines) steps.add(timeline, timeline.rank);
  return steps.finish();
}

TEST(StepsView, AddsUpUnionsOfIntervals) {
  std::vector<Timeline> one;
  one.push_back(hand_made(0, golden()));

  const View view = steps_of(one);

  const auto four = row(view, "steps", {{"step", "4"}});
  EXPECT_EQ(four, (std::map<std::string, std::string>{{"rank", "0"},
                                                      {"step", "4"},
                                                      {"of", "device"},
                                                      {"duration_us", "1000"},
                                                      {"busy_us", "660"},
                                                      {"compute_us", "440"},
                                                      {"communication_us", "410"},
                                                      {"exposed_communication_us", "120"},
                                                      {"idle_us", "340"}}));
  EXPECT_EQ(row(view, "steps", {{"step", "5"}})["busy_us"], "0");
  EXPECT_EQ(row(view, "steps", {{"step", "5"}})["idle_us"], "500");
}

TEST(StepsView, DividesWhatCrossesTheBorderOfTwoSteps) {
  std::vector<Timeline> one;
  one.push_back(hand_made(0, {{"user_annotation", "ProfilerStep#1", 0, 100},
                              {"user_annotation", "ProfilerStep#2", 100, 100},
                              {"kernel", "a", 70, 80, 7},
                              {"kernel", "b", 60, 50, 8},
                              {"gpu_user_annotation", "ProfilerStep#1", 0, 200, 7}}));

  const View view = steps_of(one);

  EXPECT_EQ(row(view, "steps", {{"step", "1"}})["busy_us"], "40");
  EXPECT_EQ(row(view, "steps", {{"step", "2"}})["busy_us"], "50");
}

TEST(StepsView, TellsRanksApart) {
  std::vector<Timeline> ranks;
  for (const double slow : {100.0, 160.0, 130.0}) {
    ranks.push_back(hand_made(static_cast<int>(ranks.size()), {{"user_annotation", "ProfilerStep#1", 0, 100},
                                                               {"user_annotation", "ProfilerStep#2", 100, slow},
                                                               {"kernel", "a", 10, 50, 7}}));
  }

  const View view = steps_of(ranks);

  EXPECT_EQ(row(view, "slowest", {{"step", "2"}}), (std::map<std::string, std::string>{{"step", "2"},
                                                                                       {"ranks", "3"},
                                                                                       {"slowest_rank", "1"},
                                                                                       {"duration_us", "160"},
                                                                                       {"mean_us", "130"},
                                                                                       {"fastest_us", "100"}}));
  const auto one = row(view, "ranks", {{"rank", "1"}});
  EXPECT_EQ(one.at("mean_us"), "130");
  EXPECT_EQ(one.at("p50_us"), "100");
  EXPECT_EQ(one.at("p95_us"), "160");
  EXPECT_EQ(one.at("spread_us"), "60");
  EXPECT_EQ(one.at("busy_percent"), "19.2308");
}

TEST(StepsView, NamesAGapByItsStepAndItsNeighbors) {
  std::vector<Timeline> one;
  one.push_back(hand_made(0, {{"user_annotation", "ProfilerStep#11", 0, 10000},
                              {"cpu_op", "MPI_Bcast", 0, 4000, 1, "\"comm\": \"c\""},
                              {"cpu_op", "MPI_Allreduce", 4500, 5000, 1, "\"comm\": \"c\""},
                              {"user_annotation", "ProfilerStep#12", 10000, 60000},
                              {"user_annotation", "data loading", 9500, 50000},
                              {"cpu_op", "MPI_Barrier", 59500, 500, 1, "\"comm\": \"c\""},
                              {"cpu_op", "MPI_Allreduce", 62000, 8000, 1, "\"comm\": \"c\""},
                              {"cpu_op", "MPI_Recv", 0, 70000, 2, "\"comm\": \"c\""}}));

  const View view = steps_of(one);

  EXPECT_EQ(table(view, "gaps").rows.size(), 2u);
  EXPECT_EQ(row(view, "gaps", {{"where", "before"}}),
            (std::map<std::string, std::string>{{"rank", "0"},
                                                {"where", "before"},
                                                {"step", "12"},
                                                {"duration_us", "50000"},
                                                {"from_step_begin_us", "-500"},
                                                {"before", "MPI_Allreduce"},
                                                {"after", "MPI_Barrier"}}));
  EXPECT_EQ(row(view, "gaps", {{"where", "in"}})["duration_us"], "2000");
  EXPECT_EQ(row(view, "steps", {{"step", "12"}})["communication_us"], "8500");
  EXPECT_EQ(row(view, "steps", {{"step", "12"}})["idle_us"], "51500");
  EXPECT_EQ(row(view, "steps", {{"step", "12"}})["of"], "host");
}

TEST(StepsView, FindsNoGapWhereTheHostOrAnotherThreadWorks) {
  const std::vector<HandEvent> events = {{"user_annotation", "ProfilerStep#1", 0, 10000},
                                         {"cpu_op", "aten::mm", 0, 3000},
                                         {"cpu_op", "autograd::engine::evaluate_function", 3000, 3000, 2},
                                         {"kernel", "gemm", 6000, 2000, 7},
                                         {"cuda_runtime", "cudaEventQuery", 8500, 1, 3}};
  std::vector<Timeline> one;
  one.push_back(hand_made(0, events));

  const View view = steps_of(one), finer = steps_of(one, 2000);

  EXPECT_EQ(table(view, "gaps").rows.size(), 1u);
  EXPECT_EQ(row(view, "gaps", {})["before"], "gemm");
  EXPECT_EQ(row(view, "gaps", {})["duration_us"], "2000");
  EXPECT_EQ(row(view, "gaps", {})["after"], "");
  EXPECT_EQ(table(finer, "gaps").rows.size(), 0u);
}

TEST(StepsView, HasCpuTimesWhereTheTraceHasThem) {
  std::vector<Timeline> known, unknown;
  known.push_back(hand_made(0, {{"user_annotation", "ProfilerStep#1", 0, 100, 1, "\"CPU (us)\": 60.5"},
                                {"user_annotation", "ProfilerStep#2", 100, 100, 1, "\"CPU (us)\": -3"},
                                {"user_annotation", "ProfilerStep#3", 200, 100, 1, "\"CPU (us)\": \"all\""},
                                {"cpu_op", "a", 0, 10}}));
  unknown.push_back(hand_made(0, golden()));

  const View view = steps_of(known);

  EXPECT_EQ(row(view, "steps", {{"step", "1"}})["cpu_us"], "60.5");
  EXPECT_EQ(row(view, "steps", {{"step", "2"}})["cpu_us"], "-");
  EXPECT_EQ(row(view, "steps", {{"step", "3"}})["cpu_us"], "-");
  EXPECT_NE(
      std::find(view.notes.begin(), view.notes.end(),
                "2 of 3 steps have no CPU time (2 of rank 0): they or the step before are shorter than 50 us, or no "
                "step follows them, or they were found after they had been recorded"),
      view.notes.end());
  EXPECT_EQ(row(steps_of(unknown), "steps", {{"step", "4"}}).count("cpu_us"), 0u);
}

TEST(StepsView, HasTheCountersThatTheTraceHas) {
  std::vector<Timeline> one;
  one.push_back(
      hand_made(0, {{"user_annotation", "ProfilerStep#1", 0, 100, 1,
                     "\"instructions\": 3000, \"cycles\": 2000, \"task_clock (us)\": 2.5, \"counted (%)\": 50"},
                    {"user_annotation", "ProfilerStep#2", 100, 100, 1, "\"instructions\": 3000, \"llc_misses\": 7"},
                    {"cpu_op", "a", 0, 10}}));

  const View view = steps_of(one);
  auto first = row(view, "steps", {{"step", "1"}}), second = row(view, "steps", {{"step", "2"}});

  EXPECT_EQ(first["instructions"], "3000");
  EXPECT_EQ(first["ipc"], "1.5");
  EXPECT_EQ(first["llc_misses"], "-");
  EXPECT_EQ(first["task_clock_us"], "2.5");
  EXPECT_EQ(first["counted_percent"], "50");
  EXPECT_EQ(second["ipc"], "-");
  EXPECT_EQ(second["llc_misses"], "7");
  EXPECT_EQ(second["counted_percent"], "-");
  EXPECT_EQ(first.count("page_faults"), 0u);
}

TEST(StepsView, FindsGapsWithoutSteps) {
  std::vector<Timeline> one;
  one.push_back(hand_made(0, {{"cpu_op", "a", 0, 10}, {"cpu_op", "b", 5010, 10}}));

  const View view = steps_of(one);

  EXPECT_EQ(view.notes.front(), "No steps (ProfilerStep#N) in these traces");
  EXPECT_EQ(row(view, "gaps", {{"where", "no step"}})["duration_us"], "5000");
}

}  // namespace
}  // namespace profshim::analysis_detail::test
