#include "session/steps/shared_steps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary_folder.h"

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

class SearchOfTwoRanks : public ::testing::Test {
 protected:
  SearchOfTwoRanks() {
    for (int rank : {0, 1}) {
      plans_[rank].folder = folder_.path();
      plans_[rank].rank.rank = rank;
      std::ofstream(folder_.path() + "/.claim-rank" + std::to_string(rank)) << "x";
    }
  }
  static std::unique_ptr<const StepRule> rule(const loop::Symbol& symbol) {
    return std::unique_ptr<const StepRule>(rule_of(symbol, {}, Confidence::kHigh));
  }

  const test::TemporaryFolder folder_;
  Plan plans_[2];
  SearchOfRanks zero_{plans_[0], 7}, one_{plans_[1], 7};
};

TEST_F(SearchOfTwoRanks, TellsStepsOfAllUntilTheyAreTakenBack) {
  zero_.say(rule(kAllreduce).get());
  EXPECT_EQ(one_.seen_so_far(), text_of_rule(kAllreduce, {}, Confidence::kHigh));
  EXPECT_TRUE(one_.has_heard_of_others());
  one_.say(nullptr);
  EXPECT_NE(one_.seen_so_far(), "") << "it is another rank's word";
  zero_.say(nullptr);
  EXPECT_EQ(one_.seen_so_far(), "");
  zero_.say(rule(kAllreduce).get());
  zero_.say(rule(kSend).get());
  EXPECT_EQ(one_.seen_so_far(), "");
}

TEST_F(SearchOfTwoRanks, EachHearsThatTheOtherSeesMessages) {
  zero_.say(rule(kSend).get());
  EXPECT_FALSE(zero_.has_heard_of_others());
  EXPECT_TRUE(one_.has_heard_of_others());
  one_.say(rule(kSend).get());
  EXPECT_TRUE(zero_.has_heard_of_others());
  EXPECT_TRUE(one_.has_heard_of_others());
}

TEST_F(SearchOfTwoRanks, HasNobodyToHearOfIfOneRankRecords) {
  std::filesystem::remove(folder_.path() + "/.claim-rank0");
  EXPECT_TRUE(one_.has_heard_of_others());
}

TEST_F(SearchOfTwoRanks, BeginsAnewAfterADecision) {
  zero_.say(rule(kAllreduce).get());
  EXPECT_EQ(zero_.decided("a"), "a");
  EXPECT_EQ(one_.decided("b"), "a");
  one_.begin(1);
  EXPECT_EQ(one_.decided("b"), "b");
  EXPECT_EQ(one_.seen_so_far(), "");
}

}  // namespace
}  // namespace profshim::session
