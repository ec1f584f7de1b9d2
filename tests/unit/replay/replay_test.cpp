#include "replay.h"

#include <gtest/gtest.h>

#include "differences.h"
#include "originals.h"

namespace profshim::replay {
namespace {

struct NamedPlan {
  const char* name;
  Plan plan;
};
const NamedPlan kPlans[] = {
    {"all of a thread in one buffer", {.seed = 1, .flushes = 1, .buffer_bytes = 1 << 20, .buffers = 4}},
    {"full buffers", {.seed = 2, .buffer_bytes = 16 << 10, .buffers = 100, .driver_inside = true}},
    {"seven records in a buffer",
     {.seed = 3, .flushes = 40, .records_in_buffer = 7, .buffer_bytes = 2 << 10, .buffers = 200, .window_percent = 99}},
    {"one record in a buffer",
     {.seed = 4, .flushes = 200, .records_in_buffer = 1, .buffer_bytes = 256, .buffers = 240, .driver_inside = true}},
    {"calls in any order",
     {.seed = 6, .records_in_buffer = 50, .buffers = 200, .window_percent = 40, .calls_in_order = false}},
    {"streams are told of", {.seed = 7, .buffer_bytes = 8 << 10, .buffers = 200, .streams = true}},
};

using Case = std::tuple<Original, Generation>;
class ReplayTest : public ::testing::TestWithParam<Case> {};

TEST_P(ReplayTest, WritesTheOriginalTrace) {
  const auto& [original, generation] = GetParam();
  const Trace& trace = trace_of(original);
  for (const auto& [name, plan] : kPlans) {
    SCOPED_TRACE(name);
    const Replayed replayed = replay(trace, generation, plan);
    const Expectation expected = expected_rows(trace, replayed, plan.streams);
    const Comparison found = compare(expected, replayed.trace, original.dialect);

    EXPECT_EQ(replayed.failure, "");
    EXPECT_TRUE(replayed.had_buffers);
    EXPECT_EQ(replayed.losses,
              (device::Losses{.launches = expected.launches_without_work, .copies = expected.copies_without_work}));
    EXPECT_TRUE(found.differences.empty()) << first_of(found.differences);
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, ReplayTest,
                         ::testing::Combine(::testing::ValuesIn(kOriginals), ::testing::ValuesIn(kGenerations)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).test_name) + "_" + std::get<1>(p.param).name;
                         });

}  // namespace
}  // namespace profshim::replay
