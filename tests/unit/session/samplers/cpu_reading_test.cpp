#include "session/samplers/cpu_reading.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "profshim/base/clock.h"

namespace profshim::session {
namespace {

CpuReading reading(std::int64_t at_ms, std::int64_t process_ms) {
  CpuReading r;
  r.at_ns = at_ms * 1'000'000;
  r.process_ns = process_ms * 1'000'000;
  r.busy_ns = 4 * r.process_ns;
  r.stolen_ns = r.process_ns / 2;
  return r;
}

TEST(CpuUse, IsTheDifferenceOfTwoSnapshots) {
  CpuReading begin = reading(1000, 100), end = reading(1500, 300);
  begin.waited_ns = {{11, 1'000'000}, {12, 5'000'000}};
  end.waited_ns = {{11, 3'000'000}, {12, 5'500'000}};

  const CpuUse use = cpu_between(begin, end);

  EXPECT_DOUBLE_EQ(use.measured_us, 500'000);
  EXPECT_DOUBLE_EQ(use.process_us, 200'000);
  EXPECT_DOUBLE_EQ(use.machine_us, 800'000);
  EXPECT_DOUBLE_EQ(use.stolen_us, 100'000);
  EXPECT_DOUBLE_EQ(use.waited_us, 2500);
  EXPECT_EQ(use.cpus, sysconf(_SC_NPROCESSORS_ONLN));
}

TEST(CpuUse, CountsOnlyThreadsInBothSnapshots) {
  CpuReading begin = reading(1000, 100), end = reading(1500, 300);
  begin.waited_ns = {{11, 1'000'000}, {12, 5'000'000}, {13, 7'000'000}};
  end.waited_ns = {{12, 4'000'000}, {13, 8'000'000}, {14, 9'000'000}};  // a new thread reuses id 12

  EXPECT_DOUBLE_EQ(cpu_between(begin, end).waited_us, 1000);
}

class WindowCpuOnThisKernel : public ::testing::Test {
  void SetUp() override {
    if (!read_cpu({})) GTEST_SKIP() << "no /proc/self/task/*/schedstat here";
  }
};

TEST_F(WindowCpuOnThisKernel, ThreadsOfTheLibraryAreExcluded) {
  std::atomic<pid_t> other{0};
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    other = gettid();
    while (!stop) usleep(1000);
  });
  while (other == 0) usleep(1000);
  const std::array<pid_t, 1> ours = {other};

  const auto all = read_cpu({}), without = read_cpu(ours);
  stop = true;
  thread.join();

  ASSERT_TRUE(all && without);
  EXPECT_TRUE(all->waited_ns.contains(other));
  EXPECT_FALSE(without->waited_ns.contains(other));
  EXPECT_TRUE(without->waited_ns.contains(getpid()));
}

TEST_F(WindowCpuOnThisKernel, EachWindowHasItsOwnUse) {
  WindowCpu cpu;
  cpu.tick(WindowCpu::kNone, {});
  cpu.tick(0, {});
  for (const std::int64_t until = monotonic_ns() + 20'000'000; monotonic_ns() < until;) {
  }
  cpu.tick(1, {});
  usleep(5000);

  const auto first = cpu.take(0, {}), second = cpu.take(1, {});

  ASSERT_TRUE(first && second);
  EXPECT_GE(first->measured_us, 20'000);
  EXPECT_GT(first->process_us, 0);
  EXPECT_GE(second->measured_us, 5000);
  EXPECT_LT(second->process_us, second->measured_us);
  EXPECT_FALSE(cpu.take(0, {}).has_value());
  EXPECT_FALSE(cpu.take(7, {}).has_value());  // no tick saw window 7
}

}  // namespace
}  // namespace profshim::session
