#include "inject/mpi/forward.h"

#include <gtest/gtest.h>

namespace profshim::mpi {

// This definition replaces inject/mpi/requests/requests.cpp, which needs MPI.
namespace detail {
constinit std::atomic<std::uint32_t> open_operations{0};
}

namespace {

constexpr std::uint32_t kIdle = recorder::kActive | recorder::kMpi | recorder::kNvtxSteps;

TEST(UnwatchedCalls, ArePointToPointCallsAndPollsOutsideWindows) {
  EXPECT_TRUE(is_unwatched(Behavior::PointToPoint, kIdle));
  EXPECT_TRUE(is_unwatched(Behavior::Test, kIdle));
  EXPECT_TRUE(is_unwatched(Behavior::Testany, kIdle));
  EXPECT_TRUE(is_unwatched(Behavior::Waitall, kIdle));
  EXPECT_FALSE(is_unwatched(Behavior::Collective, kIdle));  // also counted outside windows
  EXPECT_FALSE(is_unwatched(Behavior::CreateComm, kIdle));
}

TEST(UnwatchedCalls, CompletionsAreWatchedWhileAnOperationOfAWindowIsPending) {
  detail::open_operations = 1;
  EXPECT_FALSE(is_unwatched(Behavior::Test, kIdle));
  EXPECT_FALSE(is_unwatched(Behavior::Wait, kIdle));
  EXPECT_TRUE(is_unwatched(Behavior::PointToPoint, kIdle));
  detail::open_operations = 0;
}

TEST(UnwatchedCalls, AreNoneInAWindowAndAllInAProcessThatIsNoRank) {
  for (const Behavior behavior : {Behavior::PointToPoint, Behavior::Test, Behavior::Collective}) {
    EXPECT_FALSE(is_unwatched(behavior, kIdle | recorder::kArmed));
    EXPECT_FALSE(is_unwatched(behavior, kIdle | recorder::kHookSteps));
    EXPECT_TRUE(is_unwatched(behavior, 0));
  }
}

}  // namespace
}  // namespace profshim::mpi
