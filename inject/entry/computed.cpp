#include "computed.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "inject/core/loader/real_dlsym.h"
#include "profshim/base/rank.h"
#include "profshim/base/threads/loader_lock.h"

namespace profshim::inject {
namespace {

bool is_python() { return real_dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

/// NumPy's core library: JAX, scikit-learn, XGBoost, TensorFlow and spaCy import it.
bool has_numpy() {
  const auto is_numpy = [](dl_phdr_info* info, std::size_t, void*) {
    return info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "_multiarray_umath") != nullptr ? 1 : 0;
  };
  return visit_loaded_files(is_numpy, nullptr) != 0;
}

bool used_a_second_of_cpu() {
  rusage own{};
  if (getrusage(RUSAGE_SELF, &own) != 0) return false;
  const long microseconds = own.ru_utime.tv_usec + own.ru_stime.tv_usec;
  return own.ru_utime.tv_sec + own.ru_stime.tv_sec + microseconds / 1'000'000 >= 1;
}

/// True for processes of a pool.
bool parent_is_the_same_program() {
  char path[64], own[4096], other[4096];
  std::snprintf(path, sizeof path, "/proc/%d/exe", static_cast<int>(getppid()));
  const ssize_t own_size = readlink("/proc/self/exe", own, sizeof own);
  return own_size > 0 && readlink(path, other, sizeof other) == own_size &&
         std::memcmp(own, other, static_cast<std::size_t>(own_size)) == 0;
}

}  // namespace

bool has_computed(bool alone, bool is_first) {
  const bool python = is_python();
  if (!is_first && !python && rank_from_environment().rank < 0) return false;
  if (!is_first && parent_is_the_same_program()) return false;
  return used_a_second_of_cpu() || (alone && python && has_numpy());
}

}  // namespace profshim::inject
