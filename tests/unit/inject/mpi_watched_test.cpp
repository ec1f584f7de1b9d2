// Which MPI calls pass us by while nothing is recorded.
#include <gtest/gtest.h>

#include "inject/mpi/forward.h"

namespace profshim::mpi {

// inject/mpi/requests.cpp, which needs an MPI, is not part of this program.
namespace detail {
constinit std::atomic<std::uint32_t> open_operations{0};
}

namespace {

constexpr std::uint32_t kIdle = recorder::kActive | recorder::kMpi | recorder::kNvtxSteps;

TEST(UnwatchedCalls, OutsideOfWindowsMessagesAndPollsAre) {
  EXPECT_TRUE(is_unwatched(Behaviour::Message, kIdle));
  EXPECT_TRUE(is_unwatched(Behaviour::Test, kIdle));
  EXPECT_TRUE(is_unwatched(Behaviour::Testany, kIdle));
  EXPECT_TRUE(is_unwatched(Behaviour::Waitall, kIdle));
  EXPECT_FALSE(is_unwatched(Behaviour::Collective, kIdle));  // counted
  EXPECT_FALSE(is_unwatched(Behaviour::CreateComm, kIdle));
}

TEST(UnwatchedCalls, CompletionsAreNotWhileAnOperationOfAWindowPends) {
  detail::open_operations = 1;
  EXPECT_FALSE(is_unwatched(Behaviour::Test, kIdle));
  EXPECT_FALSE(is_unwatched(Behaviour::Wait, kIdle));
  EXPECT_TRUE(is_unwatched(Behaviour::Message, kIdle));
  detail::open_operations = 0;
}

TEST(UnwatchedCalls, InsideAWindowNothingIsAndInAProcessThatIsNoRankEverythingIs) {
  for (const Behaviour behaviour : {Behaviour::Message, Behaviour::Test, Behaviour::Collective}) {
    EXPECT_FALSE(is_unwatched(behaviour, kIdle | recorder::kArmed));
    EXPECT_FALSE(is_unwatched(behaviour, kIdle | recorder::kHookSteps));
    EXPECT_TRUE(is_unwatched(behaviour, 0));
  }
}

}  // namespace
}  // namespace profshim::mpi
