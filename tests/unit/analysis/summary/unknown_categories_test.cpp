#include <gtest/gtest.h>

#include "analysis/summary/table/key_averages.h"
#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail {
namespace {

TEST(KeyAverages, SlicesOfUnknownCategoriesHaveRows) {
  KeyAverages averages(false);
  averages.add(test::hand_made(0, {{.category = "FEE", .name = "train", .ts = 0, .dur = 50},
                                   {.category = "cpu_op", .name = "aten::mm", .ts = 10, .dur = 20},
                                   {.category = "FEE", .name = "", .ts = 60, .dur = 5}}),
               0);
  const KeyTable table = averages.finish();

  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "train");
  EXPECT_EQ(table.rows[0].cpu_total_us, 50);
  EXPECT_EQ(table.rows[0].self_cpu_us, 30);
  EXPECT_EQ(table.rows[1].self_cpu_us, 20);
}

}  // namespace
}  // namespace profshim::analysis_detail
