#include <algorithm>
#include <cstddef>

#include "profshim/base/text/ascii.h"
#include "spec/value.h"
#include "syntax.h"

namespace profshim::spec {
namespace {

using ascii::is_digit;

bool is_digit_of(char c, int base) {
  if (base == 16) return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  return c >= '0' && c < '0' + base;
}

bool take_digits(std::string_view& rest, int base, std::string& digits) {
  const std::size_t before = digits.size();
  while (!rest.empty()) {
    if (is_digit_of(rest.front(), base)) {
      digits += rest.front();
    } else if (rest.front() != '_' || digits.size() == before || rest.size() < 2 || !is_digit_of(rest[1], base)) {
      break;
    }
    rest.remove_prefix(1);
  }
  return digits.size() > before;
}

int take_number(std::string_view& rest, std::size_t count) {
  if (rest.size() < count || !std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count), is_digit)) {
    return -1;
  }
  int number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number * 10 + (rest[i] - '0');
  rest.remove_prefix(count);
  return number;
}

bool take(std::string_view& rest, std::string_view any_of) {
  if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& rest) {
  const int year = take_number(rest, 4);
  if (year < 0 || !take(rest, "-")) return false;
  const int month = take_number(rest, 2);
  if (month < 1 || month > 12 || !take(rest, "-")) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int days = month == 2 ? 28 + leap : 30 + (month + month / 8) % 2;
  const int day = take_number(rest, 2);
  return day >= 1 && day <= days;
}

bool take_hour_and_minute(std::string_view& rest) {
  const int hour = take_number(rest, 2);
  if (hour < 0 || hour > 23 || !take(rest, ":")) return false;
  const int minute = take_number(rest, 2);
  return minute >= 0 && minute <= 59;
}

bool take_time(std::string_view& rest) {
  if (!take_hour_and_minute(rest) || !take(rest, ":")) return false;
  const int second = take_number(rest, 2);
  if (second < 0 || second > 60) return false;
  if (!take(rest, ".")) return true;
  std::size_t digits = 0;
  while (take(rest, "0123456789")) ++digits;
  return digits > 0;
}

bool is_date_or_time(std::string_view token) {
  if (token.size() > 2 && token[2] == ':') return take_time(token) && token.empty();
  if (!take_date(token)) return false;
  if (token.empty()) return true;
  if (!take(token, "Tt ") || !take_time(token)) return false;
  if (token.empty() || take(token, "Zz")) return token.empty();
  return take(token, "+-") && take_hour_and_minute(token) && token.empty();
}

std::string check_number(std::string_view token) {
  const std::string no_number = quoted(token) + " is not a value";
  std::string_view rest = token;
  std::string digits;
  if (rest.size() > 1 && rest[0] == '0' && std::string_view("xob").find(rest[1]) != std::string_view::npos) {
    const int base = rest[1] == 'x' ? 16 : rest[1] == 'o' ? 8 : 2;
    rest.remove_prefix(2);
    return take_digits(rest, base, digits) && rest.empty() ? "" : no_number;
  }
  take(rest, "+-");
  if (rest == "inf" || rest == "nan") return "";
  if (!take_digits(rest, 10, digits)) return no_number;
  if (digits.size() > 1 && digits.front() == '0') return "the number " + quoted(token) + " begins with a zero";
  if (take(rest, ".") && !take_digits(rest, 10, digits)) return no_number;
  if (take(rest, "eE")) {
    take(rest, "+-");
    if (!take_digits(rest, 10, digits)) return no_number;
  }
  return rest.empty() ? "" : no_number;
}

}  // namespace

std::string check_scalar(std::string_view token) {
  if (token == "true" || token == "false") return "";
  const auto digit_at = [&](std::size_t i) { return i < token.size() && is_digit(token[i]); };
  const bool year = digit_at(0) && digit_at(1) && digit_at(2) && digit_at(3) && token.substr(4, 1) == "-";
  const bool hour = digit_at(0) && digit_at(1) && token.substr(2, 1) == ":";
  if (year || hour)
    return is_date_or_time(token) ? "" : quoted(token) + (year ? " is not a date" : " is not a time of day");
  return check_number(token);
}

}  // namespace profshim::spec
