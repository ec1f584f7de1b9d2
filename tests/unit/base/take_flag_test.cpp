#include "profshim/base/threads/take_flag.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "unit/on_one_cpu.h"

namespace profshim {
namespace {

constexpr std::int64_t kMinute_ns = 60'000'000'000;

TEST(TakeFlag, WaitsUntilItIsCleared) {
  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  flag.test_and_set();
  std::thread clears([&flag] {
    usleep(1000);
    flag.clear();
  });

  EXPECT_TRUE(take_flag(flag, kMinute_ns));
  EXPECT_TRUE(flag.test());
  clears.join();
}

// Each call of sched_yield() takes milliseconds there.
TEST(TakeFlag, HasALimitInTimeAlsoOnABusyCpu) {
  const test::OnOneCpu with_its_threads;
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&stop] {
      while (!stop) {
      }
    });
  std::atomic_flag abandoned = ATOMIC_FLAG_INIT;
  abandoned.test_and_set();

  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(take_flag(abandoned, 1'000'000));
  const auto waited = std::chrono::steady_clock::now() - began;

  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_LT(waited, std::chrono::nanoseconds(kMinute_ns)) << "16,384 yields would take longer";
}

}  // namespace
}  // namespace profshim
