#include "profshim/base/threads/loader_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "unit/in_child.h"

namespace profshim {
namespace {

std::atomic<bool> is_inside{false}, may_leave{false};

int stay(dl_phdr_info*, std::size_t, void*) {
  is_inside = true;
  for (int i = 0; i < 1000 && !may_leave; ++i) usleep(100);
  return 1;
}

int visit_one(dl_phdr_info*, std::size_t, void*) { return 1; }

/// Forks while another thread visits the files, for a tenth of a second or until the fork is done. Returns 0 if the
/// child could visit them, too.
int fork_during_a_visit() {
  make_forks_wait();
  std::thread visits([] { visit_loaded_files(stay, nullptr); });
  while (!is_inside) usleep(100);
  const int ended = test::in_child([] {
    alarm(20);
    return visit_loaded_files(visit_one, nullptr) == 1 ? 0 : 1;
  });
  may_leave = true;
  visits.join();
  return ended;
}

int fork_inside_a_call() {
  make_forks_wait();
  const ForksWait of_this_thread;
  return test::in_child([] { return visit_loaded_files(visit_one, nullptr) == 1 ? 0 : 1; });
}

/// The other thread leaves only after the fork, as if it waited for a lock of the thread that forks.
int fork_before_another_leaves() {
  make_forks_wait();
  std::thread stays([] {
    const ForksWait of_this_thread;
    is_inside = true;
    while (!may_leave) usleep(100);
  });
  while (!is_inside) usleep(100);
  const int first = test::in_child([] { return visit_loaded_files(visit_one, nullptr) == 1 ? 0 : 1; });
  const int second = test::in_child([] { return visit_loaded_files(visit_one, nullptr) == 1 ? 0 : 1; });
  may_leave = true;
  stays.join();
  return first + second;
}

/// A fork handler of the job calls a hook.
int visit_in_a_fork_handler() {
  pthread_atfork([] { visit_loaded_files(visit_one, nullptr); }, nullptr, nullptr);
  make_forks_wait();
  return test::in_child([] { return visit_loaded_files(visit_one, nullptr) == 1 ? 0 : 1; });
}

TEST(LoaderLock, IsFreeInAChild) { EXPECT_EQ(test::in_child(fork_during_a_visit), 0); }

TEST(LoaderLock, AThreadThatVisitsMayFork) { EXPECT_EQ(test::in_child(fork_inside_a_call), 0); }

TEST(LoaderLock, ForksDoNotWaitForEver) { EXPECT_EQ(test::in_child(fork_before_another_leaves), 0); }

TEST(LoaderLock, AForkHandlerMayVisit) { EXPECT_EQ(test::in_child(visit_in_a_fork_handler), 0); }

}  // namespace
}  // namespace profshim
