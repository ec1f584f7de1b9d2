#include "profshim/base/threads/cpu_wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "unit/on_one_cpu.h"

namespace profshim {
namespace {

using std::chrono::steady_clock;

TEST(WaitedForCpu, ThreadsThatShareACpuWaitForIt) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count waits for a CPU";
  const test::OnOneCpu with_its_threads;
  std::atomic<bool> stop{false};
  std::atomic<pid_t> tid{0};
  std::thread other([&] {  // inherits the CPU
    tid = gettid();
    while (!stop) {
    }
  });
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  std::optional<std::int64_t> waited_ns = 0;
  while (waited_ns && *waited_ns < 20'000'000 && steady_clock::now() < deadline) {
    if (tid != 0) waited_ns = waited_for_cpu_ns(tid);
  }
  stop = true;
  other.join();

  ASSERT_TRUE(waited_ns.has_value());
  EXPECT_GE(*waited_ns, 20'000'000);
}

TEST(CpuWaits, HoldTheWaitThatLasts) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count waits for a CPU";
  const test::OnOneCpu with_its_threads;
  std::atomic<bool> stop{false};
  std::atomic<pid_t> tid{0};
  std::thread other([&] {
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);  // the thread that looks keeps the CPU
    tid = gettid();
    while (!stop) {
    }
  });
  while (tid == 0) sched_yield();
  CpuWaits waits;
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  std::int64_t lasts_ns = 0;
  while (lasts_ns < 2'000'000 && steady_clock::now() < deadline)
    lasts_ns = waits.look_ns(tid) - waited_for_cpu_ns(tid).value_or(0);
  stop = true;
  other.join();

  EXPECT_GE(lasts_ns, 2'000'000);
}

TEST(CpuWaits, OfAThreadThatSleepsDoNotGrow) {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    tid = gettid();
    stop.wait(false);
  });
  while (tid == 0) sched_yield();
  CpuWaits waits;
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  int alike = 0;
  for (std::int64_t before_ns = -1; alike < 50 && steady_clock::now() < deadline; usleep(1000)) {
    const std::int64_t now_ns = waits.look_ns(tid);
    alike = now_ns == before_ns ? alike + 1 : 0;  // it may still be on its way to sleep
    before_ns = now_ns;
  }
  stop = true;
  stop.notify_all();
  other.join();

  EXPECT_EQ(alike, 50);
}

TEST(CpuWaits, BeginWithAThreadThatHasNotRunYet) {
  CpuWaits waits;
  const std::int64_t first_ns = waits.look_ns(0);
  usleep(1000);

  EXPECT_GE(waits.look_ns(0) - first_ns, 1'000'000);
}

TEST(WaitedForCpu, IsUnknownOfAThreadThatHasEnded) {
  pid_t tid = 0;
  std::thread([&tid] { tid = gettid(); }).join();

  EXPECT_FALSE(waited_for_cpu_ns(tid).has_value());
}

}  // namespace
}  // namespace profshim
