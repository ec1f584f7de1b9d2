// The expected offsets are from NCCL's profiler_v4.h (2.27.7), profiler_v5.h (2.28.9) and profiler_v6.h (2.30.7).
#include "inject/nccl/profiler/abi.h"

#include <gtest/gtest.h>

namespace profshim::nccl::profiler {
namespace {

template <class Description>
void expect_offsets() {
  EXPECT_EQ(offsetof(Description, type), 0U);
  EXPECT_EQ(offsetof(Description, parent), 8U);
  EXPECT_EQ(offsetof(Description, rank), 16U);
  EXPECT_EQ(offsetof(Description, collective), 24U);
  EXPECT_EQ(offsetof(Description, point_to_point), 24U);
}

TEST(NcclProfilerAbi, DescriptionsHaveTheOffsetsOfTheHeaders) {
  EXPECT_EQ(sizeof(DescriptionV4::type), 1U);
  EXPECT_EQ(sizeof(DescriptionV5::type), 8U);
  expect_offsets<DescriptionV4>();
  expect_offsets<DescriptionV5>();

  EXPECT_EQ(offsetof(CollectiveTask, function), 8U);
  EXPECT_EQ(offsetof(CollectiveTask, count), 32U);
  EXPECT_EQ(offsetof(CollectiveTask, channels), 56U);
  EXPECT_EQ(offsetof(CollectiveTask, warps), 57U);
  EXPECT_EQ(offsetof(CollectiveTask, algorithm), 64U);
  EXPECT_EQ(offsetof(CollectiveTask, protocol), 72U);
  EXPECT_EQ(offsetof(PointToPointTask, peer), 32U);
  EXPECT_EQ(offsetof(PointToPointTask, channels), 36U);
}

TEST(NcclProfilerAbi, TablesHaveTheOffsetsOfTheHeaders) {
  EXPECT_EQ(offsetof(TableV4, init), 8U);
  EXPECT_EQ(offsetof(TableV4, start_event), 16U);
  EXPECT_EQ(offsetof(TableV4, stop_event), 24U);
  EXPECT_EQ(offsetof(TableV4, record_event_state), 32U);
  EXPECT_EQ(offsetof(TableV4, finalize), 40U);
  EXPECT_EQ(sizeof(TableV4), 48U);
  EXPECT_EQ(sizeof(TableV5), 48U);
}

}  // namespace
}  // namespace profshim::nccl::profiler
