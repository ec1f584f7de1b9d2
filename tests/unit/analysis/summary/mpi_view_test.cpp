#include "analysis/summary/mpi_view.h"

#include <gtest/gtest.h>

#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

TEST(MpiView, AddsUpCallsByFunctionAndRank) {
  const std::string world = "\"comm\": \"MPI_COMM_WORLD\"";
  const Timeline zero = hand_made(0, {{"cpu_op", "MPI_Allreduce", 0, 30, 1, "\"bytes\": 8, " + world},
                                      {"cpu_op", "MPI_Allreduce", 100, 50, 1, "\"bytes\": 16, " + world},
                                      {"cpu_op", "MPI_Wait", 190, 10},
                                      {"cpu_op", "MPI_Isend", 150, 5, 1, "\"bytes\": 4"},
                                      {"cpu_op", "MPI_Isend", 150, 0, 1, "\"bytes\": 4", "b", 1},
                                      {"cpu_op", "MPI_Isend", 200, 0, 1, "", "e", 1},
                                      {"cpu_op", "other", 0, 150},
                                      {"user_annotation", "MPI_like", 0, 100}});
  const Timeline one = hand_made(
      1, {{"cpu_op", "MPI_Allreduce", 0, 100, 1, "\"bytes\": 8, " + world},
          {"cpu_op", "MPI polling", 100, 100, 1, "\"MPI_Test\": 6, \"MPI_Iprobe\": 2, \"in calls (us)\": 12.5"}});
  MpiView mpi;

  mpi.add(zero, 0);
  mpi.add(one, 1);
  const View view = mpi.finish();

  EXPECT_EQ(row(view, "mpi", {{"rank", "0"}, {"function", "MPI_Allreduce"}}),
            (std::map<std::string, std::string>{{"rank", "0"},
                                                {"function", "MPI_Allreduce"},
                                                {"calls", "2"},
                                                {"total_us", "80"},
                                                {"mean_us", "40"},
                                                {"max_us", "50"},
                                                {"bytes", "24"},
                                                {"share_percent", "40"}}));
  EXPECT_EQ(row(view, "mpi", {{"rank", "0"}, {"function", "MPI_Isend"}})["calls"], "1");
  EXPECT_EQ(row(view, "mpi", {{"rank", "0"}, {"function", "MPI_Wait"}})["bytes"], "-");
  EXPECT_EQ(row(view, "mpi", {{"rank", "all"}, {"function", "MPI_Allreduce"}})["share_percent"], "45");
  EXPECT_EQ(row(view, "mpi", {{"rank", "1"}, {"function", "MPI polling"}}),
            (std::map<std::string, std::string>{{"rank", "1"},
                                                {"function", "MPI polling"},
                                                {"calls", "8"},
                                                {"total_us", "12.5"},
                                                {"mean_us", "1.5625"},
                                                {"max_us", "-"},
                                                {"bytes", "-"},
                                                {"share_percent", "6.25"}}));
  EXPECT_EQ(row(view, "ranks", {{"rank", "0"}})["total_us"], "95");
}

}  // namespace
}  // namespace profshim::analysis_detail::test
