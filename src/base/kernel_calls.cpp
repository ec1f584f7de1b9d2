// Functions of the C library whose calls from this library must reach the kernel. Another preloaded library may replace
// them for the job: libfaketime's versions tell a false time, shift the times of files, and crash once its destructor
// has run. All definitions are hidden: the job's calls do not come here. They are no cancellation points.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

// The compiler ignores visibility attributes here: libstdc++'s headers have declared some of these with default
// visibility.
__asm__(
    ".hidden clock_gettime\n.hidden nanosleep\n.hidden poll\n.hidden getpid\n.hidden getrandom\n"
    ".hidden stat\n.hidden lstat\n.hidden fstat\n.hidden fstatat\n.hidden utimensat\n");

namespace {

using ClockFunction = int (*)(clockid_t, timespec*);  // returns 0 or -errno

#if defined(__aarch64__)
constexpr const char* kClockOfKernel = "__kernel_clock_gettime";
#else
constexpr const char* kClockOfKernel = "__vdso_clock_gettime";
#endif

/// Null = the kernel maps no vDSO (Valgrind hides it), or the constructor has not run yet.
constinit std::atomic<ClockFunction> vdso_clock{nullptr};

__attribute__((constructor)) void find_vdso_clock() {
  void* const vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (vdso != nullptr) vdso_clock = reinterpret_cast<ClockFunction>(dlsym(vdso, kClockOfKernel));
  dlerror();  // locale: cleared, not read: the job must not find our error
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const ClockFunction read = vdso_clock.load(std::memory_order_relaxed);
  if (__builtin_expect(read == nullptr, 0)) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const int result = read(clock, time);
  if (__builtin_expect(result == 0, 1)) return 0;
  errno = -result;
  return -1;
}

int nanosleep(const timespec* duration, timespec* rest) {
  return static_cast<int>(syscall(SYS_nanosleep, duration, rest));
}

int poll(pollfd* files, nfds_t count, int timeout_ms) {
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return static_cast<int>(
      syscall(SYS_ppoll, files, count, timeout_ms < 0 ? nullptr : &timeout, nullptr, std::size_t{_NSIG / 8}));
}

pid_t getpid() noexcept { return static_cast<pid_t>(syscall(SYS_getpid)); }

ssize_t getrandom(void* into, std::size_t size, unsigned flags) { return syscall(SYS_getrandom, into, size, flags); }

int stat(const char* path, struct stat* into) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, into, 0));
}
int lstat(const char* path, struct stat* into) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, into, AT_SYMLINK_NOFOLLOW));
}
int fstat(int fd, struct stat* into) noexcept { return static_cast<int>(syscall(SYS_fstat, fd, into)); }
int fstatat(int folder, const char* path, struct stat* into, int flags) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, into, flags));
}

int utimensat(int folder, const char* path, const timespec times[2], int flags) noexcept {
  return static_cast<int>(syscall(SYS_utimensat, folder, path, times, flags));
}

}  // extern "C"
