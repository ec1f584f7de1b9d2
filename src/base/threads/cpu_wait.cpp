#include "profshim/base/threads/cpu_wait.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"

namespace profshim {

// schedstat has three numbers: time on a CPU (ns), time in the run queue (ns), time slices.
std::optional<std::int64_t> waited_for_cpu_ns(pid_t tid) {
  char path[64], text[96];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", static_cast<int>(tid));
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  const Descriptor file(open_high(path, O_RDONLY));
  const ssize_t length = file ? read(file.get(), text, sizeof text) : -1;
  pthread_setcancelstate(cancel_state, nullptr);
  if (length <= 0) return std::nullopt;
  std::string_view numbers(text, static_cast<std::size_t>(length));
  std::int64_t on_cpu_ns = 0, waited_ns = 0;
  if (!take_number(numbers, on_cpu_ns) || !take_character(numbers, ' ') || !take_number(numbers, waited_ns))
    return std::nullopt;
  return waited_ns;
}

}  // namespace profshim
