#include "session/signals/cpu_limit.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
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

/// A thread that lives as long as this object. `name`: "" = that of the process.
class AThread {
 public:
  explicit AThread(const char* name, int policy = SCHED_OTHER) {
    std::promise<int> started;
    std::future<int> id = started.get_future();
    thread_ = std::thread([this, &started, name, policy] {
      if (*name != '\0') prctl(PR_SET_NAME, name);
      const sched_param priority{policy == SCHED_FIFO ? 1 : 0};
      is_permitted_ = sched_setscheduler(0, policy, &priority) == 0;
      started.set_value(static_cast<int>(syscall(SYS_gettid)));
      end_.get_future().wait();
    });
    tid_ = id.get();
  }
  ~AThread() {
    end_.set_value();
    thread_.join();
  }
  AThread(const AThread&) = delete;
  AThread& operator=(const AThread&) = delete;

  bool is_permitted() const { return is_permitted_; }
  Scheduling now() const { return scheduling_of(tid_); }

 private:
  std::promise<void> end_;
  std::thread thread_;
  int tid_ = 0;
  bool is_permitted_ = false;
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
