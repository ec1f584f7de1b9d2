#include "real_function.h"

#include <dlfcn.h>

#include <cerrno>

#include "real_dlsym.h"
#include "resolve.h"

namespace profshim::inject {

constinit std::array<RealFunction, detail::kHooks + detail::kOtherHooks> detail::real_functions{};

void* RealFunction::look_up(Layer layer, const char* const* names, std::size_t n) {
  const int saved_errno = errno;
  void* found = nullptr;
  for (std::size_t i = 0; i < n && found == nullptr; ++i) found = resolve(names[i], layer);
  address_.store(found, std::memory_order_release);  // pairs with get()
  errno = saved_errno;
  return found;
}

bool RealFunction::adopt(const char* name, void* found) {
  void* known = address_.load(std::memory_order_acquire);
  if (known == nullptr) {
    void* const next = next_symbol(name);
    if (next == nullptr)
      dlerror();  // locale: cleared, not read: the job's lookup has succeeded, and must not find an error of ours
    if (next != nullptr && next != found) return false;
  } else if (known != found && object_at(known).headers != nullptr) {
    return false;
  }
  // A known function that no file holds any more belonged to a library that the job has closed.
  while (known != found && !address_.compare_exchange_weak(known, found, std::memory_order_acq_rel)) {
    if (known != nullptr && known != found) return false;
  }
  return true;
}

}  // namespace profshim::inject
