#include "profshim/base/environment.h"

#include <cstdlib>

#include "profshim/base/ascii.h"
#include "profshim/base/number_text.h"

namespace profshim {

int number_in_environment(const char* variable) {
  const char* const value = variable != nullptr ? std::getenv(variable) : nullptr;
  std::string_view text = value != nullptr ? value : "";
  while (!text.empty() && ascii::is_blank(text.front())) text.remove_prefix(1);
  take_character(text, '+');
  int number = -1;
  return parse_number(text, number) && number >= 0 ? number : -1;
}

}  // namespace profshim
