#include "kineto/lanes.h"

#include <gtest/gtest.h>

namespace profshim::kineto {
namespace {

TEST(Lanes, NestedAndFollowingSlicesShareALane) {
  Lanes lanes;

  EXPECT_EQ(lanes.place(0, 100), 0);
  EXPECT_EQ(lanes.place(10, 50), 0);
  EXPECT_EQ(lanes.place(50, 100), 0);  // touching is no overlap
  EXPECT_EQ(lanes.place(100, 120), 0);
}

TEST(Lanes, APartialOverlapGoesElsewhereAndComesBack) {
  Lanes lanes;
  lanes.place(0, 100);

  EXPECT_EQ(lanes.place(50, 150), 1);
  EXPECT_EQ(lanes.place(60, 90), 0);
  EXPECT_EQ(lanes.place(120, 200), 0);
  EXPECT_EQ(lanes.place(130, 250), 2);  // lane 1 is taken until 150
  EXPECT_EQ(lanes.place(160, 300), 1);
}

}  // namespace
}  // namespace profshim::kineto
