#include "kineto/correlation/torch_links.h"

#include <gtest/gtest.h>

#include <deque>

#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

class TorchLinksTest : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(8); }

  const Event* op(Ticks begin, Ticks end, std::int64_t sequence, HookId hook = HookId::kTorchOperator) {
    Event& event = events_.emplace_back();
    event.hook = hook;
    event.begin = begin;
    event.end = end;
    event.torch.sequence = sequence;
    return &event;
  }
  const Event* backward(Ticks begin, Ticks end, std::int64_t sequence) {
    return op(begin, end, sequence, HookId::kTorchBackward);
  }

  TorchLinks linked(std::initializer_list<std::vector<const Event*>> threads) {
    view_ = view();
    const LaunchIndex none(*view_);
    TorchLinks links;
    for (const auto& events : threads) links.add_thread(events, none);
    links.finish(1);
    return links;
  }
  static bool joined(const TorchLinks& links, const Event* from, const Event* to) {
    const auto starts = links.starting_at(*from), ends = links.ending_at(*to);
    return starts.size() == 1 && ends.size() == 1 && starts[0].number == ends[0].number;
  }

  std::deque<Event> events_;
  std::unique_ptr<spool::View> view_;
};

// aten::linear and the inner aten::t have sequence number 0. The gradient belongs to aten::t.
TEST_F(TorchLinksTest, ABackwardFunctionIsThatOfTheLastOperatorWithItsNumber) {
  const Event *const outer = op(10, 50, 0), *const inner = op(20, 30, 0), *const other = op(60, 70, 1);
  const Event *const engine = op(100, 130, 0), *const function = backward(110, 120, 0);

  const TorchLinks links = linked({{outer, inner, other}, {engine, function}});

  EXPECT_TRUE(joined(links, inner, function));
  for (const Event* const event : {outer, other, engine}) EXPECT_TRUE(links.starting_at(*event).empty());
}

TEST_F(TorchLinksTest, AGraphThatIsGoneThroughTwiceIsJoinedTwice) {
  const Event *const forward = op(10, 50, 3), *const first = backward(60, 70, 3), *const second = backward(80, 90, 3);

  const TorchLinks links = linked({{forward, first, second}});

  ASSERT_EQ(links.starting_at(*forward).size(), 2U);
  EXPECT_NE(links.ending_at(*first)[0].number, links.ending_at(*second)[0].number);
}

// Each thread numbers its operators from 0.
TEST_F(TorchLinksTest, ANumberThatTwoThreadsHaveJoinsNothing) {
  const Event *const one = op(10, 20, 3), *const two = op(11, 21, 3), *const function = backward(60, 70, 3);

  const TorchLinks links = linked({{one}, {two}, {function}});

  EXPECT_TRUE(links.ending_at(*function).empty());
}

TEST_F(TorchLinksTest, AnOperatorThatIsNotThereJoinsNothing) {
  const Event *const later = op(100, 110, 3), *const function = backward(60, 70, 3),
                     *const none = op(10, 20, kNoSequence);

  const TorchLinks links = linked({{none, function, later}});

  EXPECT_TRUE(links.ending_at(*function).empty());
  EXPECT_TRUE(links.starting_at(*later).empty());
}

}  // namespace
}  // namespace profshim::kineto
