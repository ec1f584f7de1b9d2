// Raw CUPTI buffers of an H200 with CUPTI 13.0.1 (tests/gpu/RESULTS.md): the programs of tests/gpu, five to nine steps.
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>

#include "device/capture/converter.h"
#include "device/cupti/cupti_dump.h"
#include "unit/replay/replay_cupti.h"

namespace profshim::device {
namespace {

class Counting final : public EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override {
    ++of_hook[event.hook];
    if (event.hook == HookId::kKernel) nameless += event.name == 0 || continuation == nullptr ? 1 : 0;
    if (event.hook == HookId::kCudaApi) launches += event.api.is_launch;
    if (event.end < event.begin) ++backward;
  }
  StringId text(const char* text) override { return text != nullptr && *text != 0 ? 1 : 0; }
  void define(spool::DefinitionKind, std::uint32_t, std::string_view, std::string_view,
              std::initializer_list<std::int64_t>) override {}
  std::map<HookId, int> of_hook;
  int nameless = 0, launches = 0, backward = 0;
};

struct Known {
  const char* name;
  int kernels, copies, memsets, launches;
  std::uint64_t repeated_ids = 0, no_time = 0;
};
void PrintTo(const Known& known, std::ostream* out) { *out << known.name; }

// Counted in the files by another program. CUPTI went off within a step of `graphs` and `mixed_static`. In `torch` the
// main thread was inside a call that was deselected: all its later launches, and their kernels, have id 1. In `driver`
// it was inside cudaStreamSynchronize when CUPTI went off: that call has no begin.
const Known kKnown[] = {
    {"allocations", 0, 0, 0, 0},      {"driver", 50, 0, 0, 50, 0, 1},         {"graphs", 250, 0, 49, 52},
    {"graphs_as_one", 0, 0, 0, 56},   {"graphs_two_windows", 225, 0, 45, 51}, {"late", 6, 0, 0, 6},
    {"mixed", 100, 15, 5, 120},       {"mixed_static", 82, 13, 5, 97},        {"torch", 193, 14, 0, 109, 98},
    {"torch_graph", 307, 18, 0, 157}, {"torch_nccl", 8, 142, 194, 343},       {"waits", 50, 0, 0, 50},
};

class RecordingsOfAnH200 : public ::testing::TestWithParam<Known> {};

TEST_P(RecordingsOfAnH200, AreConvertedWhole) {
  const Known& known = GetParam();
  const auto recording = Recording::read(std::string(PROFSHIM_SOURCE_DIR "/tests/recordings/") + known.name + ".bin");
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->version(), 130001u);
  const replay::ReplayCupti cupti(replay::kGenerations[2]);
  CuptiApi api = cupti.api();
  api.next_record = Recording::next_record;
  Counting output;
  const ActivityScope scope(api);
  Converter converter(scope, output, 1 << 20);
  converter.names().load(api);
  converter.clock().use_ticks(true);
  converter.begin_round(1, ~Ticks{0}, 1);
  converter.convert(recording->buffers());
  converter.end_round(/*flushed=*/true, /*last=*/true);
  converter.launches().give_up_before(~Ticks{0});

  EXPECT_EQ(output.of_hook[HookId::kKernel], known.kernels);
  EXPECT_EQ(output.of_hook[HookId::kMemcpy], known.copies);
  EXPECT_EQ(output.of_hook[HookId::kMemset], known.memsets);
  EXPECT_EQ(output.launches, known.launches);
  EXPECT_EQ(output.nameless, 0);
  EXPECT_EQ(output.backward, 0);
  EXPECT_EQ(converter.launches().take_lost().launches, 0u);
  Losses expected;
  expected.repeated_ids = known.repeated_ids;
  expected.times.zero = known.no_time;
  EXPECT_EQ(converter.losses(), expected);
}

INSTANTIATE_TEST_SUITE_P(Programs, RecordingsOfAnH200, ::testing::ValuesIn(kKnown),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace profshim::device
