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
}

}  // namespace
}  // namespace profshim
