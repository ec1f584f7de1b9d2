#include "analysis/summary/kernels_view.h"

#include <gtest/gtest.h>

#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

std::vector<HandEvent> device_work() {
  std::vector<HandEvent> events = {{"cpu_op", "a", 0, 500},
                                   {"cuda_runtime", "cudaLaunchKernel", 0, 10},
                                   {"gpu_user_annotation", "a", 0, 700, 7},
                                   {"cuda_sync", "Stream Sync", 0, 50, 7},
                                   {"gpu_memcpy", "Memcpy HtoD", 0, 100, 7},
                                   {"gpu_memset", "Memset (Device)", 100, 10, 7}};
  for (int i = 1; i <= 20; ++i) events.push_back({"kernel", "a", 200.0 + 30 * i, static_cast<double>(i), 7});
  return events;
}

TEST(KernelsView, CountsDeviceWorkAndNothingElseEachOnce) {
  KernelsView kernels;

  kernels.add(hand_made(3, device_work()), 3);
  const View view = kernels.finish();

  EXPECT_EQ(table(view, "kernels").rows.size(), 3u);
  const auto a = row(view, "kernels", {{"name", "a"}});
  EXPECT_EQ(a, (std::map<std::string, std::string>{{"rank", "3"},
                                                   {"name", "a"},
                                                   {"kind", "kernel"},
                                                   {"count", "20"},
                                                   {"total_us", "210"},
                                                   {"min_us", "1"},
                                                   {"max_us", "20"},
                                                   {"p50_us", "10"},
                                                   {"p95_us", "19"},
                                                   {"mean_us", "10.5"},
                                                   {"share_percent", "65.625"}}));
  EXPECT_EQ(row(view, "kernels", {{"name", "Memcpy HtoD"}})["share_percent"], "31.25");
  EXPECT_EQ(row(view, "kernels", {{"kind", "memset"}})["share_percent"], "3.125");
  EXPECT_EQ(row(view, "ranks", {})["total_us"], "320");
}

TEST(KernelsView, AddsUpRanks) {
  KernelsView kernels;

  kernels.add(hand_made(0, device_work()), 0);
  kernels.add(hand_made(1, {{"kernel", "a", 0, 40, 7}}), 1);
  const View view = kernels.finish();

  EXPECT_EQ(row(view, "kernels", {{"rank", "all"}, {"name", "a"}})["count"], "21");
  EXPECT_EQ(row(view, "kernels", {{"rank", "all"}, {"name", "a"}})["max_us"], "40");
  EXPECT_EQ(row(view, "ranks", {{"rank", "all"}})["total_us"], "360");
  EXPECT_EQ(row(view, "ranks", {{"rank", "1"}})["total_us"], "40");
}

TEST(KernelsView, SaysThatThereWasNone) {
  KernelsView kernels;

  kernels.add(hand_made(0, {{"cpu_op", "a", 0, 500}}), 0);

  EXPECT_EQ(kernels.finish().notes, std::vector<std::string>{"No device activity"});
}

}  // namespace
}  // namespace profshim::analysis_detail::test
