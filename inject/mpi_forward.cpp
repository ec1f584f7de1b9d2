#include "mpi_forward.h"

#include <cerrno>

#include "resolve.h"

namespace profshim::mpi {

void* RealFunction::look_up(const char* const* names, std::size_t n) {
  const int saved_errno = errno;
  void* found = nullptr;
  for (std::size_t i = 0; i < n && found == nullptr; ++i) found = inject::resolve(names[i], Layer::kMpi);
  address_.store(found, std::memory_order_release);  // pairs with get(); absent: looked for again, it may come yet
  errno = saved_errno;
  return found;
}

int error_of_missing_function() { return abi().implementation == Implementation::kOpenMpi ? 16 : 15; }

}  // namespace profshim::mpi
