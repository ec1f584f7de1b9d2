// This libcupti logs the calls below and forwards them to libcupti.so.13, which handles all others. Lines of
// CUPTI_WATCH_LOG have begin (CLOCK_REALTIME) and length in ns, thread, function, two arguments, result.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int kNotInitialized = 15;  // CUPTI_ERROR_NOT_INITIALIZED

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void* real(const char* name) {
  static void* const library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr ? dlsym(library, name) : nullptr;
}

int log_file() {
  static const int file = [] {
    const char* const path = std::getenv("CUPTI_WATCH_LOG");
    return path != nullptr ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  }();
  return file;
}

// Each line is one write(), so threads do not mix their lines and a killed process leaves complete lines.
template <class... Arguments>
int call(const char* name, unsigned first, unsigned second, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(real(name));
  if (function == nullptr) return kNotInitialized;
  const std::int64_t begin = now_ns();
  const int result = function(arguments...);
  const std::int64_t end = now_ns();
  char line[200];
  const int length =
      std::snprintf(line, sizeof line, "%lld %lld %ld %s %u %u %d\n", static_cast<long long>(begin),
                    static_cast<long long>(end - begin), syscall(SYS_gettid), name, first, second, result);
  if (log_file() >= 0 && write(log_file(), line, static_cast<std::size_t>(length)) < 0) return result;
  return result;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuptiActivityEnable(unsigned kind) { return call("cuptiActivityEnable", kind, 0, kind); }
EXPORT int cuptiActivityDisable(unsigned kind) { return call("cuptiActivityDisable", kind, 0, kind); }
EXPORT int cuptiActivityFlushAll(unsigned flag) { return call("cuptiActivityFlushAll", flag, 0, flag); }
EXPORT int cuptiActivityEnableRuntimeApi(unsigned id, std::uint8_t on) {
  return call("cuptiActivityEnableRuntimeApi", id, on, id, on);
}
EXPORT int cuptiActivityEnableDriverApi(unsigned id, std::uint8_t on) {
  return call("cuptiActivityEnableDriverApi", id, on, id, on);
}
EXPORT int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  return call("cuptiActivityRegisterTimestampCallback", 0, 0, clock);
}
