// Functions and data that glibc 2.28 lacks, hidden from the job. For `make portable`.
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// ---- glibc 2.32

/// Nonzero lets the C++ runtime leave out atomic operations. Zero is right for any number of threads.
HIDDEN const char __libc_single_threaded = 0;

// ---- glibc 2.33. Before, <sys/stat.h> defined these. src/base/kernel_calls.cpp defines stat() and the like

static_assert(sizeof(struct stat) == sizeof(struct stat64));
struct stat* same(struct stat64* into) {
  return reinterpret_cast<struct stat*>(into);
}

HIDDEN int stat64(const char* path, struct stat64* into) noexcept { return stat(path, same(into)); }
HIDDEN int fstat64(int fd, struct stat64* into) noexcept { return fstat(fd, same(into)); }
HIDDEN int lstat64(const char* path, struct stat64* into) noexcept { return lstat(path, same(into)); }
HIDDEN int fstatat64(int folder, const char* path, struct stat64* into, int flags) noexcept {
  return fstatat(folder, path, same(into), flags);
}

// ---- glibc 2.30

/// A change of the wall clock moves the deadline, but the C++ runtime checks its own clock after the wait.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  constexpr std::int64_t kSecond = 1'000'000'000;
  timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  std::int64_t ns = std::int64_t{until->tv_nsec} - now.tv_nsec + wall.tv_nsec;
  std::int64_t s = std::int64_t{until->tv_sec} - now.tv_sec + wall.tv_sec + ns / kSecond;
  ns %= kSecond;
  if (ns < 0) {
    ns += kSecond;
    --s;
  }
  const timespec end{.tv_sec = s, .tv_nsec = ns};
  return pthread_cond_timedwait(condition, mutex, &end);
}

// ---- glibc 2.36

/// Called by std::random_device. getentropy() waits only early in the boot.
HIDDEN std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  while (getentropy(&number, sizeof number) != 0) {
  }
  return number;
}
