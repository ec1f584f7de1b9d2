#include <gtest/gtest.h>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using WindowTableTest = test::SpoolFixture;

TEST_F(WindowTableTest, FirstCloseOfAWindowCounts) {
  make_spool(64);
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);

  recorder::close_window(*window, 200, 0, spool::WindowEnd::kLimit, 0);
  recorder::close_window(*window, 300, 0, spool::WindowEnd::kSchedule, 0);

  EXPECT_EQ(window->end.load(), 200u);
  EXPECT_EQ(window->ended_by.load(), spool::WindowEnd::kLimit);
}

TEST_F(WindowTableTest, WindowIsRefusedIfTheTableIsFull) {
  make_spool(64);
  for (std::uint32_t i = 0; i < spool::kMaxWindows; ++i) {
    spool::Window* const window = recorder::open_window(i + 1, spool::kNoMark);
    ASSERT_NE(window, nullptr);
    recorder::close_window(*window, i + 2, 0, spool::WindowEnd::kSchedule, 0);
  }

  EXPECT_EQ(recorder::open_window(5000, spool::kNoMark), nullptr);
  EXPECT_EQ(recorder::header().windows_lost[static_cast<std::size_t>(LostWindow::kQueueFull)].load(), 1u);
}

TEST_F(WindowTableTest, WindowHasTheLossesOfItsTime) {
  make_spool(64);
  constexpr auto kPending = static_cast<std::size_t>(Loss::pending_lost);
  recorder::count_loss(Loss::pending_lost, 2);

  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  recorder::count_loss(Loss::pending_lost, 5);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);
  recorder::count_loss(Loss::pending_lost, 7);

  EXPECT_EQ(window->lost_before[kPending], 2u);
  EXPECT_EQ(window->lost_after[kPending], 7u);
}

TEST_F(WindowTableTest, WindowOfFoundStepsHasTheLossesSinceTheSearchBegan) {
  make_spool(64);
  recorder::keep_for_search(50);
  recorder::count_loss(Loss::pending_lost, 3);

  const spool::Window* const window = recorder::open_window(100, spool::kNoMark);

  EXPECT_EQ(window->lost_before[static_cast<std::size_t>(Loss::pending_lost)], 0u);
}

}  // namespace
}  // namespace profshim
