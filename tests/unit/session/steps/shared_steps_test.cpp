#include "session/steps/shared_steps.h"

#include <gtest/gtest.h>

namespace profshim::session {
namespace {

using loop::CallKind;
using loop::Confidence;

/// 20 times each symbol, in turn.
loop::Sequence sequence_of(std::vector<loop::Symbol> symbols) {
  loop::Sequence sequence{std::move(symbols), {}};
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::uint32_t symbol = 0; symbol < sequence.symbols.size(); ++symbol)
      sequence.calls.push_back({symbol, 100 * i, 100 * i + 10});
  }
  return sequence;
}

std::string text_of_rule(const loop::Symbol& symbol, const loop::Boundary& boundary, Confidence confidence) {
  const std::unique_ptr<const StepRule> rule(rule_of(symbol, boundary, confidence));
  return shared_text(*rule);
}

const loop::Symbol kAllreduce{CallKind::kCollective, "MPI_Allreduce"};
const loop::Symbol kSend{CallKind::kMessage, "MPI_Send"};
const loop::Symbol kOptimizer{CallKind::kOptimizer, "Optimizer.step#SGD.step"};

TEST(SharedSteps, OfARankAreThoseThatAnotherHasFound) {
  const loop::Sequence sequence = sequence_of({kSend, kAllreduce, kOptimizer});

  const auto each_fifth = shared_rule(text_of_rule(kAllreduce, {.every = 5}, Confidence::kHigh), sequence);
  const auto optimizer = shared_rule(text_of_rule(kOptimizer, {.at_end = true}, Confidence::kMedium), sequence);

  ASSERT_NE(each_fifth, nullptr);
  EXPECT_EQ(each_fifth->settings(), "steps.source=collective steps.pattern=\"MPI_Allreduce\" steps.every=5");
  EXPECT_STREQ(each_fifth->confidence, "high");
  ASSERT_NE(optimizer, nullptr);
  EXPECT_TRUE(optimizer->at_end);
  EXPECT_STREQ(optimizer->confidence, "medium");
}

TEST(SharedSteps, MayComeIfTheRankMakesCallsOfAllRanks) {
  EXPECT_TRUE(recurs_on_all_ranks(sequence_of({kSend, kAllreduce})));
  EXPECT_FALSE(recurs_on_all_ranks(sequence_of({kSend})));
  loop::Sequence once = sequence_of({kSend});
  once.symbols.push_back(kAllreduce);
  once.calls.push_back({1, 5, 6});
  EXPECT_FALSE(recurs_on_all_ranks(once));
}

TEST(SharedSteps, AreNotTakenIfTheRankDoesNotMakeThem) {
  const loop::Sequence sequence = sequence_of({kSend, kAllreduce});

  EXPECT_EQ(shared_rule(text_of_rule(kOptimizer, {}, Confidence::kHigh), sequence), nullptr);
  EXPECT_EQ(shared_rule(text_of_rule(kSend, {}, Confidence::kHigh), sequence), nullptr)
      << "a master may send for each worker";
  EXPECT_EQ(shared_rule(text_of_rule(kAllreduce, {.every = 11}, Confidence::kHigh), sequence), nullptr)
      << "not two steps yet";
  EXPECT_EQ(shared_rule("", sequence), nullptr);
  EXPECT_EQ(shared_rule("high\nsteps.source=collective steps.every=-7", sequence), nullptr);
}

}  // namespace
}  // namespace profshim::session
