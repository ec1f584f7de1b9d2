#include <gtest/gtest.h>

#include "inject/nvtx/callbacks/callbacks.h"

namespace profshim::nvtx {
namespace {

constexpr nvtxRangeId_t kOwn = 0x10001, kChained = 1001;

nvtxRangeId_t chained_start(int) { return kChained; }
constexpr nvtxRangeId_t (*kNoStart)(int) = nullptr;

class NvtxChain : public testing::Test {
 protected:
  void SetUp() override { chain::set_path("a tool"); }
  void TearDown() override { chain::set_path(""); }
};

TEST_F(NvtxChain, TheJobHasTheIdOfTheChainedTool) {
  EXPECT_EQ(public_id(kOwn, chained_start, 0), kChained);

  const EndedRange ended = take_public_id(kChained);
  EXPECT_EQ(ended.own, kOwn);
  EXPECT_TRUE(ended.is_chained);
  EXPECT_EQ(take_public_id(kChained).own, 0U) << "ended twice";
}

TEST_F(NvtxChain, ARangeThatTheChainedToolCannotStartIsEndedByItsOwnId) {
  const nvtxRangeId_t id = public_id(kOwn, kNoStart, 0);

  const EndedRange ended = take_public_id(id);
  EXPECT_EQ(ended.own, kOwn);
  EXPECT_FALSE(ended.is_chained) << "the tool may have an equal id for another range";
}

TEST_F(NvtxChain, AnIdOfTheChainedToolIsNotTakenForOurs) {
  public_id(0, chained_start, 0);

  const EndedRange ended = take_public_id(kChained);
  EXPECT_EQ(ended.own, 0U);
  EXPECT_TRUE(ended.is_chained);
  EXPECT_EQ(public_id(0, kNoStart, 0), 0U);
}

TEST_F(NvtxChain, WithoutAToolTheJobHasOurIds) {
  chain::set_path("");

  EXPECT_EQ(public_id(kOwn, kNoStart, 0), kOwn);
  EXPECT_EQ(take_public_id(kOwn).own, kOwn);
}

}  // namespace
}  // namespace profshim::nvtx
