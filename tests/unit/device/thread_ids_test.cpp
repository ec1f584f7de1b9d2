// CUPTI's records hold only the lower half of pthread_self().
#include "device/cupti/thread_ids.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace profshim::device {
namespace {

std::uint32_t raw_self() { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pthread_self())); }

TEST(ThreadIds, ALivingThreadIsFoundByItsAddressAndAnEndedOneAmongTheSeen) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the control block is known on x86-64 only";
#endif
  static SeenThreads seen;
  ThreadIds ids;
  ids.also_ask(&seen);
  ids.learn(id_places_of_this_thread());
  std::uint32_t met_raw = 0;
  std::int32_t met_tid = 0;
  std::thread([&] {
    ids.learn(id_places_of_this_thread());
    seen.add_this_thread();
    met_raw = raw_self();
    met_tid = static_cast<std::int32_t>(syscall(SYS_gettid));
    EXPECT_EQ(ids.tid_of(met_raw), met_tid);
  }).join();
  EXPECT_EQ(ids.tid_of(raw_self()), static_cast<std::int32_t>(syscall(SYS_gettid)));
  ids.begin_batch();
  EXPECT_EQ(ids.tid_of(met_raw), met_tid);
  EXPECT_EQ(ids.tid_of(0x12340), 0);
}

}  // namespace
}  // namespace profshim::device
