#include "kineto/overflow_tracks.h"

#include <gtest/gtest.h>

namespace profshim::kineto {
namespace {

TEST(OverflowTracks, NestedAndFollowingSlicesShareATrack) {
  OverflowTracks tracks;

  EXPECT_EQ(tracks.place(0, 100), 0);
  EXPECT_EQ(tracks.place(10, 50), 0);
  EXPECT_EQ(tracks.place(50, 100), 0);
  EXPECT_EQ(tracks.place(100, 120), 0);
}

TEST(OverflowTracks, PartialOverlapGoesToAnOverflowTrackAndComesBack) {
  OverflowTracks tracks;
  tracks.place(0, 100);

  EXPECT_EQ(tracks.place(50, 150), 1);
  EXPECT_EQ(tracks.place(60, 90), 0);
  EXPECT_EQ(tracks.place(120, 200), 0);
  EXPECT_EQ(tracks.place(130, 250), 2);
  EXPECT_EQ(tracks.place(160, 300), 1);
}

}  // namespace
}  // namespace profshim::kineto
