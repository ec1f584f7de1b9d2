#include "fakes/libcuda/simulator.h"

#include <sched.h>

#include <ctime>

namespace fake {

std::uint64_t realtime_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

void pause_ns(std::uint64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1000000000ull), static_cast<long>(ns % 1000000000ull)};
  nanosleep(&time, nullptr);
}

void wait_until(std::uint64_t then) {
  for (std::uint64_t now = realtime_ns(); now < then; now = realtime_ns()) {
    if (then - now > 80000)
      pause_ns(then - now - 60000);
    else
      sched_yield();
  }
}

}  // namespace fake

/// Never destroyed: threads may launch while the job ends.
extern "C" __attribute__((visibility("default"))) fake::Device* fake_cuda_device() {
  static auto* const device = new fake::Simulator;
  return device;
}
