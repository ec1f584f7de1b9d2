#pragma once

#include <gtest/gtest.h>
#include <sched.h>

namespace profshim::test {

/// Keeps the calling thread, and the threads that it starts, on one CPU.
class OnOneCpu {
 public:
  OnOneCpu() {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace profshim::test
