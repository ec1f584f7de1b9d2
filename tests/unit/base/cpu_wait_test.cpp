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

TEST(WaitedForCpu, IsUnknownOfAThreadThatHasEnded) {
  pid_t tid = 0;
  std::thread([&tid] { tid = gettid(); }).join();

  EXPECT_FALSE(waited_for_cpu_ns(tid).has_value());
}

}  // namespace
}  // namespace profshim
