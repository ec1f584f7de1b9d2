#include <gtest/gtest.h>

#include "profshim/loop.h"

namespace profshim::loop {
namespace {

std::string names_of(const Sequence& sequence) {
  std::string names;
  for (const Call& call : sequence.calls) names += (names.empty() ? "" : ", ") + sequence.symbols[call.symbol].name;
  return names;
}

TEST(SequenceBuilder, LeavesOutCallsInsideOthers) {
  SequenceBuilder builder;
  builder.add(CallKind::kOperator, "aten::addmm", -1, 2, 4);
  builder.add(CallKind::kOperator, "aten::linear", -1, 1, 5);
  builder.add(CallKind::kOperator, "aten::relu", -1, 6, 7);

  const Sequence sequence = builder.finish();

  EXPECT_EQ(names_of(sequence), "aten::linear, aten::relu");
  EXPECT_EQ(sequence.symbols[0].nested, 1u);
}

TEST(SequenceBuilder, KeepsRangesAndTheCallsInside) {
  SequenceBuilder builder;
  builder.add(CallKind::kOperator, "aten::linear", -1, 2, 3);
  builder.add(CallKind::kNvtxRange, "forward", -1, 1, 4);
  builder.add(CallKind::kOther, "MPI_Wait", -1, 0, 5);

  EXPECT_EQ(names_of(builder.finish()), "MPI_Wait, forward");
}

TEST(SequenceBuilder, RangesThatDifferInNumbersAreOneSymbol) {
  SequenceBuilder builder;
  builder.add(CallKind::kNvtxRange, "batch 9 of 10", -1, 1, 2);
  builder.add(CallKind::kNvtxRange, "batch 10 of 10", -1, 3, 4);

  const Sequence sequence = builder.finish();

  ASSERT_EQ(sequence.symbols.size(), 1u);
  EXPECT_EQ(sequence.symbols[0].name, "batch * of *");
}

// emit_nvtx() repeats the ranges of PyTorch.
TEST(SequenceBuilder, KeepsTheApisApart) {
  SequenceBuilder builder;
  builder.add(CallKind::kNvtxRange, "Optimizer.step#SGD.step", -1, 2, 3);
  builder.add(kind_of_torch_range("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step", -1, 1, 4);

  const Sequence sequence = builder.finish();

  ASSERT_EQ(sequence.symbols.size(), 2u);
  EXPECT_EQ(sequence.symbols[0].kind, CallKind::kNvtxRange);
  EXPECT_EQ(sequence.symbols[1].kind, CallKind::kOptimizer);
}

}  // namespace
}  // namespace profshim::loop
