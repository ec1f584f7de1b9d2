// A Rule that is used too often hides a fault.
#include <gtest/gtest.h>

#include "differences.h"
#include "originals.h"
#include "replay.h"

namespace profshim::replay {
namespace {

struct Known {
  const char* test_name;
  const char* equal;
  const char* rules;
  std::uint64_t copies_without_work;
};
const Known kKnown[] = {
    {"A100Ddp",
     "ac2g 7548, cuda_runtime 4963, deviceProperties 8, gpu_memcpy 960, gpu_memset 114, kernel 2700, process_labels 1, "
     "process_name 1, thread_name 2",
     "not from CUPTI 15507, external id 8737, collective args 21, unrecorded call 3777, flow end at a call 4878, "
     "flow without work 88, opted in to shared memory 414, single precision 1671, name of a stream 2, uuid of a device "
     "8",
     3},
    {"B200Vllm",
     "ac2g 1858, cuda_driver 221, cuda_runtime 715, deviceProperties 8, gpu_memcpy 161, kernel 768, overhead 9",
     "not from CUPTI 20045, external id 1860, collective args 1, unrecorded call 436, flow end at a call 441, "
     "flow without work 2, opted in to shared memory 182, single precision 216, line of overhead 9, uuid of a device 8",
     0},
    {"EventSync",
     "ac2g 16, cuda_runtime 15, cuda_sync 5, deviceProperties 8, gpu_memset 3, kernel 3, process_labels 1, "
     "process_name 1, thread_name 3",
     "not from CUPTI 9, external id 26, unrecorded call 24, flow end at a call 31, flow end at a wait for an event 3, "
     "single precision 3, line of syncs 5, name of a stream 3, uuid of a device 8",
     0},
    {"Graphs",
     "ac2g 1799, cuda_runtime 972, deviceProperties 8, gpu_memcpy 250, gpu_memset 50, kernel 627, process_labels 1, "
     "process_name 1, thread_name 6",
     "external id 1899, unrecorded call 3244, flow end at a call 3344, launched before 644, "
     "opted in to shared memory 14, single precision 1122, graph ids 69, name of a stream 6, uuid of a device 8",
     0},
};

std::string text_of(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [category, count] : counts) {
    text += (text.empty() ? "" : ", ") + category + ' ' + std::to_string(count);
  }
  return text;
}

std::string text_of(const RuleCounts& rules) {
  std::string text;
  for (const auto& [rule, count] : rules) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(rule)) + ' ' + std::to_string(count);
  }
  return text;
}

class ReplayCountsTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ReplayCountsTest, RowsAndRulesHaveTheKnownCounts) {
  const Original& original = kOriginals[GetParam()];
  const Known& known = kKnown[GetParam()];
  const Replayed replayed = replay(trace_of(original), kGenerations[2], {});
  const Expectation expected = expected_rows(trace_of(original), replayed, false);
  const Comparison found = compare(expected, replayed.trace, original.dialect);

  ASSERT_STREQ(original.test_name, known.test_name);
  EXPECT_EQ(replayed.failure, "");
  EXPECT_EQ(text_of(found.equal), known.equal);
  EXPECT_EQ(text_of(expected.rules), known.rules);
  EXPECT_EQ(replayed.losses.launches, 0u);
  EXPECT_EQ(replayed.losses.copies, known.copies_without_work);
}

INSTANTIATE_TEST_SUITE_P(Traces, ReplayCountsTest, ::testing::Range(std::size_t{0}, std::size(kOriginals)),
                         [](const auto& p) { return std::string(kOriginals[p.param].test_name); });

}  // namespace
}  // namespace profshim::replay
