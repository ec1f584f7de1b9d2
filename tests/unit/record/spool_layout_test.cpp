#include <gtest/gtest.h>

#include "profshim/recorder_control.h"
#include "profshim/spec.h"

namespace profshim {
namespace {

TEST(DivideMemory, StaysInsideTheBudget) {
  for (const std::uint64_t budget : {recorder::kLeastRoom, kLeastMemory, std::uint64_t{32} << 20,
                                     std::uint64_t{256} << 20, std::uint64_t{2} << 30, std::uint64_t{1} << 40}) {
    recorder::SpoolSize size;
    const std::uint64_t device = budget / 20;
    ASSERT_TRUE(recorder::divide_memory(budget, device, true, size));
    EXPECT_GE(size.chunks, 16u) << budget;
    // The trace writer's index takes an eighth of the events' size and may double once.
    const std::uint64_t index = std::uint64_t{size.chunks} * spool::kChunkBytes / 4;
    EXPECT_LE(recorder::spool_bytes(size) + index + recorder::kWriterBytes + device, budget);
  }
  recorder::SpoolSize size;
  EXPECT_FALSE(recorder::divide_memory(recorder::kLeastRoom - 1, 0, true, size));
}

}  // namespace
}  // namespace profshim
