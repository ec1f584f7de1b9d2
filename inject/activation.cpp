#include "activation.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "profshim/session.h"

namespace profshim::inject {

bool hooks_lookups() {
  enum : int { kUnknown, kOff, kOn };
  static constinit std::atomic<int> answer{kUnknown};
  int known = answer.load(std::memory_order_relaxed);
  if (known == kUnknown) {
    const char* const wanted = std::getenv("PROFSHIM_DLSYM");
    known = session::requested() && (wanted == nullptr || std::strcmp(wanted, "0") != 0) ? kOn : kOff;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kOn;
}

}  // namespace profshim::inject
