#include "analysis/memory/device_memory.h"

#include <gtest/gtest.h>

#include "memory_trace.h"

namespace profshim::analysis_detail {
namespace {

using test::blocks_of;
using test::MadeMemory;
using test::memory_trace;
using test::read;
using test::trace_of;

using Bytes = std::vector<std::int64_t>;
using Indexes = std::vector<std::uint32_t>;

DeviceMemory memory_of(const std::vector<MadeMemory>& events) { return blocks_of(*read(memory_trace(events))); }

TEST(DeviceMemory, AddsUpBlocksOfAnAllocatorWithoutTotals) {
  const DeviceMemory memory = memory_of({{1, 100, 0xa}, {2, 50, 0xb}, {3, -100, 0xa}, {4, -50, 0xb}});

  EXPECT_EQ(memory.before, 0);
  EXPECT_EQ(memory.allocated, (Bytes{100, 150, 50, 0}));
  EXPECT_EQ(memory.highest, 1u);
  EXPECT_EQ(memory.released[0], 2u);
  EXPECT_EQ(memory.released[1], 3u);
}

// Traces of 2021 have sizes alone.
TEST(DeviceMemory, AddsUpSizesWithoutAddressesAndTotals) {
  const DeviceMemory memory = memory_of({{1, 100}, {2, -30}, {3, -90}, {4, 50}, {5, 0}});

  EXPECT_TRUE(memory.only_sizes);
  EXPECT_EQ(memory.before, 20);
  EXPECT_EQ(memory.allocated, (Bytes{120, 90, 0, 50}));
  EXPECT_EQ(memory.highest, 0u);
  EXPECT_EQ(memory.unusable, 1u);
}

// The released block was there from the start.
TEST(DeviceMemory, AReleaseOfAnUnknownBlockIsNoNegativeMemory) {
  const DeviceMemory memory = memory_of({{1, 50, 0xb}, {2, -100, 0xa}, {3, -50, 0xb}});

  EXPECT_EQ(memory.before, 100);
  EXPECT_EQ(memory.allocated, (Bytes{150, 50, 0}));
  EXPECT_EQ(memory.older_blocks, 1u);
}

TEST(DeviceMemory, TakesTheTotalsOfTheAllocator) {
  const DeviceMemory memory =
      memory_of({{1, 100, 0xa, 1100, 2000}, {2, -300, 0xc, 800, 2000}, {3, -100, 0xa, 700, 1000}});

  EXPECT_EQ(memory.before, 1000);
  EXPECT_EQ(memory.allocated, (Bytes{1100, 800, 700}));
  EXPECT_TRUE(memory.reserves);
  EXPECT_EQ(memory.older_blocks, 1u);
}

// PyTorch's MapAllocator reports shared memory of the CPU with a total of 0.
TEST(DeviceMemory, AddsBlocksOfAnotherAllocatorToTheTotals) {
  const DeviceMemory memory = memory_of({{1, 100, 0xa, 1100},
                                         {2, 40, 0xb, 0},
                                         {3, 10, 0xc, 1110},
                                         {4, -40, 0xb, 0},
                                         {5, -7, 0xd, 0},
                                         {6, -100, 0xa, 1010}});

  EXPECT_EQ(memory.before, 1007);
  EXPECT_EQ(memory.allocated, (Bytes{1107, 1147, 1157, 1117, 1110, 1010}));
  EXPECT_EQ(memory.without_total, 3u);
}

TEST(DeviceMemory, ABlockEndsIfItsAddressIsAllocatedAgain) {
  const auto reader = read(memory_trace({{1, 100, 0xa}, {2, 30, 0xa}, {3, -30, 0xa}}));
  const DeviceMemory memory = blocks_of(*reader);

  EXPECT_EQ(memory.allocated, (Bytes{100, 30, 0}));
  EXPECT_EQ(memory.unseen_releases, 1u);
  EXPECT_EQ(memory.released[0], 1u);
  EXPECT_EQ(alive_at(memory, reader->events(), 1), Indexes{1});
}

TEST(DeviceMemory, OrdersEventsOfThreadsByTime) {
  const DeviceMemory memory = memory_of({{1, 100, 0xa},
                                         {4, -100, 0xa},
                                         {.ts = 2, .bytes = 7, .address = 0xb, .tid = 2},
                                         {.ts = 3, .bytes = -7, .address = 0xb, .tid = 2}});

  EXPECT_EQ(memory.allocated, (Bytes{100, 107, 100, 0}));
}

TEST(DeviceMemory, DevicesAndAllocatorsAreApart) {
  const auto reader = read(memory_trace({{1, 100, 0xa, 100},
                                         {.ts = 2, .bytes = 9, .address = 0xa, .allocated = 9, .index = 1},
                                         {.ts = 3, .bytes = 5, .address = 0xa, .allocated = 5, .type = 0, .index = -1},
                                         {.ts = 4, .bytes = 6, .address = 0xb, .allocated = 11, .type = 0},
                                         {5, 4096, 0xa}}));

  ASSERT_EQ(reader->devices().size(), 4u);
  EXPECT_EQ(blocks_of(*reader, 0).allocated, Bytes{100});
  EXPECT_EQ(blocks_of(*reader, 1).allocated, Bytes{9});
  EXPECT_EQ(blocks_of(*reader, 2).allocated, (Bytes{5, 11})) << "the CPU is one device, whatever its number";
  EXPECT_EQ(blocks_of(*reader, 3).allocated, Bytes{4096}) << "what CUDA allocates holds PyTorch's blocks";
}

TEST(DeviceMemory, LeavesOutWhatCannotBe) {
  const DeviceMemory memory = memory_of({{1, 100, 0xa}, {2, 100, 0}, {3, std::int64_t{1} << 60, 0xc}, {4, 0, 0xa}});

  EXPECT_EQ(memory.allocated, Bytes{100});
  EXPECT_EQ(memory.unusable, 3u);
}

TEST(DeviceMemory, KnowsWhatIsAliveAndWhichPartAllocatedIt) {
  const auto reader = read(trace_of({test::slice_json("aten::linear", 0, 10), test::json_of({1, 100, 0xa, 1100}),
                                     test::slice_json("autograd::engine::evaluate_function: AddmmBackward0", 20, 10),
                                     test::slice_json("aten::mm", 21, 5), test::json_of({22, 30, 0xb, 1130}),
                                     test::slice_json("Optimizer.step#Adam.step", 40, 10, "user_annotation"),
                                     test::json_of({41, 7, 0xc, 1137}), test::json_of({60, 1, 0xd, 1138}),
                                     test::json_of({70, -30, 0xb, 1108})}));
  const DeviceMemory memory = blocks_of(*reader);
  const auto part = [](const PartBytes& bytes, StepPart of) { return bytes.of_part[static_cast<std::size_t>(of)]; };

  const std::vector<PartBytes> parts = parts_at(memory, *reader, {3, 4});

  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(part(parts[0], StepPart::kOperator), 100);
  EXPECT_EQ(part(parts[0], StepPart::kBackward), 30);
  EXPECT_EQ(part(parts[0], StepPart::kOptimizer), 7);
  EXPECT_EQ(part(parts[0], StepPart::kNoOperator), 1);
  EXPECT_EQ(parts[0].older, 1000);
  EXPECT_EQ(part(parts[1], StepPart::kBackward), 0);
  EXPECT_EQ(alive_at(memory, reader->events(), 3), (Indexes{0, 1, 2, 3}));
  EXPECT_EQ(alive_at(memory, reader->events(), 4), (Indexes{0, 2, 3}));
}

}  // namespace
}  // namespace profshim::analysis_detail
