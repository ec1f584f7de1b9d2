#include "real_function.h"

#include <cerrno>

#include "resolve.h"

namespace profshim::inject {

void* RealFunction::look_up(Layer layer, const char* const* names, std::size_t n) {
  const int saved_errno = errno;
  void* found = nullptr;
  for (std::size_t i = 0; i < n && found == nullptr; ++i) found = resolve(names[i], layer);
  address_.store(found, std::memory_order_release);  // pairs with get()
  errno = saved_errno;
  return found;
}

}  // namespace profshim::inject
