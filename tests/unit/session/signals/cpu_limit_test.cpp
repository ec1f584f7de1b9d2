#include "session/signals/cpu_limit.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "unit/in_child.h"

namespace profshim::cpu_limit {
namespace {

constexpr int kFailed = 1, kNotPermitted = 77;

struct Scheduling {
  int policy;
  int cpus;
};

Scheduling scheduling_of(int tid) {
  cpu_set_t allowed;
  sched_getaffinity(tid, sizeof allowed, &allowed);
  return {sched_getscheduler(tid), CPU_COUNT(&allowed)};
}

/// A thread that sleeps until the process ends.
class AThread {
 public:
  explicit AThread(const char* name, int policy = SCHED_OTHER) {
    std::thread([this, name, policy] {
      prctl(PR_SET_NAME, name);
      const sched_param priority{policy == SCHED_FIFO ? 1 : 0};
      is_permitted_ = sched_setscheduler(0, policy, &priority) == 0;
      tid_ = gettid();
      for (;;) pause();
    }).detach();
    while (tid_ == 0) sched_yield();
  }
  bool is_permitted() const { return is_permitted_; }
  Scheduling now() const { return scheduling_of(tid_); }

 private:
  std::atomic<int> tid_{0};
  std::atomic<bool> is_permitted_{false};
};

TEST(CpuLimit, ThatEndsRealTimeThreadsLeavesThemAllCpusAndTheCommonPriority) {
  const int result = test::in_child([] {
    const rlimit limit{200'000, 30'000'000};
    setrlimit(RLIMIT_RTTIME, &limit);
    const AThread job("job", SCHED_FIFO), batch("job", SCHED_BATCH), ours("profshim-writer", SCHED_FIFO);
    if (!job.is_permitted()) return kNotPermitted;
    const Scheduling before = job.now();

    spare_time();

    const bool is_right = job.now().policy == SCHED_OTHER && job.now().cpus == before.cpus &&
                          batch.now().policy == SCHED_BATCH && ours.now().policy == SCHED_FIFO;
    return is_right ? 0 : kFailed;
  });
  if (result == kNotPermitted) GTEST_SKIP() << "SCHED_FIFO is not permitted here";
  EXPECT_EQ(result, 0);
}

TEST(CpuLimit, WithAHardOneLetsTheJobRunOnlyBesideOurThreads) {
  const int result = test::in_child([] {
    const rlimit limit{3000, 3600};
    setrlimit(RLIMIT_CPU, &limit);
    prctl(PR_SET_NAME, "profshim-test");  // else it would get no CPU on a busy machine
    const AThread job("job"), ours("profshim-writer");

    spare_time();

    const bool is_right = job.now().policy == SCHED_IDLE && job.now().cpus == 1 && ours.now().policy == SCHED_OTHER &&
                          ours.now().cpus == 1;
    return is_right ? 0 : kFailed;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace profshim::cpu_limit
