#include "profshim/base/text/number_text.h"

#include <cstdlib>

#include "profshim/base/text/ascii.h"

namespace profshim {
namespace {

std::string formatted(double value, std::chars_format format, int precision) {
  char text[400];  // the largest double has 309 digits
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, format, precision);
  return error == std::errc() ? std::string(text, end) : std::string("0");
}

}  // namespace

std::string fixed_text(double value, int decimals) { return formatted(value, std::chars_format::fixed, decimals); }

std::string rounded_text(double value, int digits) { return formatted(value, std::chars_format::general, digits); }

std::string exact_text(double value) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

int number_in_environment(const char* variable) {
  const char* const value = variable != nullptr ? std::getenv(variable) : nullptr;
  std::string_view text = value != nullptr ? value : "";
  while (!text.empty() && ascii::is_blank(text.front())) text.remove_prefix(1);
  take_character(text, '+');
  int number = -1;
  return parse_number(text, number) && number >= 0 ? number : -1;
}

}  // namespace profshim
