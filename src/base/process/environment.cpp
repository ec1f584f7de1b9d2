#include "environment.h"

#include <cerrno>
#include <cstdlib>

namespace profshim {

int number_in_environment(const char* variable) {
  const char* text = variable != nullptr ? std::getenv(variable) : nullptr;
  if (text == nullptr || *text == 0) return -1;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  return *end == 0 && errno == 0 && value >= 0 && value <= 0x7fffffff ? static_cast<int>(value) : -1;
}

}  // namespace profshim
