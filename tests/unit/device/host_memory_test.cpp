#include <gtest/gtest.h>

#include "profshim/device.h"
#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

TEST(HostMemory, FitsIntoTheBudgetBesideTheSpoolAndTheWriter) {
  for (const std::uint64_t budget :
       {kLeastMemory, std::uint64_t{128} << 20, std::uint64_t{2} << 30, std::uint64_t{1} << 40}) {
    Spec spec;
    recorder::SpoolSize size;
    ASSERT_TRUE(recorder::divide_memory(budget, host_bytes(spec, budget), true, size));

    const std::uint64_t index = std::uint64_t{size.chunks} * spool::kChunkBytes / 4;
    EXPECT_GT(host_bytes(spec, budget), budget >= std::uint64_t{1} << 40 ? 0 : budget / 64);
    EXPECT_LE(recorder::spool_bytes(size) + index + recorder::kWriterBytes + host_bytes(spec, budget), budget)
        << budget;
    EXPECT_GE(size.chunks, 16u) << budget;
  }
}

TEST(HostMemory, FollowsTheGivenMemoryAndNotTheLimitOfTheSpec) {
  const Spec spec;
  ASSERT_EQ(spec.limits.host_memory, std::uint64_t{2} << 30);
  EXPECT_LE(host_bytes(spec, recorder::kLeastRoom), recorder::kLeastRoom / 20);
}

// host_bytes() runs before the recorder rejects memory below kLeastRoom.
TEST(HostMemory, ForNoMemoryIsThatForTheLeastMemory) {
  EXPECT_EQ(host_bytes(Spec(), 0), host_bytes(Spec(), recorder::kLeastRoom));
}

TEST(HostMemory, IsZeroWithoutTheGpuPart) {
  Spec spec;
  spec.activities.cuda = false;
  EXPECT_EQ(host_bytes(spec, std::uint64_t{2} << 30), 0u);
}

}  // namespace
}  // namespace profshim::device
