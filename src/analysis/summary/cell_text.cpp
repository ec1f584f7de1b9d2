#include "cell_text.h"

#include <algorithm>
#include <cmath>

#include "profshim/analysis/summary.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace analysis_detail {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string fixed(double value, int decimals, std::string_view unit) {
  return fixed_text(value, decimals).append(unit);
}

std::string format_share(double part, double total) { return total == 0 ? "NaN" : fixed(part * 100.0 / total, 2, "%"); }

std::string format_bytes(double bytes) {
  constexpr double kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;
  const double size = std::abs(bytes);
  if (size >= kGiga) return fixed(bytes / kGiga, 2, " GB");
  if (size >= kMega) return fixed(bytes / kMega, 2, " MB");
  if (size >= kKilo) return fixed(bytes / kKilo, 2, " KB");
  return fixed(bytes == 0 ? 0 : bytes, 0, " B");  // never "-0"
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string_view first_characters(std::string_view text, std::size_t n) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && n-- == 0) return text.substr(0, i);
  }
  return text;
}

std::string shortened(std::string_view text, std::size_t n) { return std::string(first_characters(text, n)) + "..."; }

}  // namespace analysis_detail

std::string format_time(double us, std::string_view unit) {
  using analysis_detail::fixed;
  if (unit.empty()) unit = us >= 1e6 ? "s" : us >= 1e3 ? "ms" : "us";
  if (unit == "s") return fixed(us / 1e6, 3, "s");
  if (unit == "ms") return fixed(us / 1e3, 3, "ms");
  return fixed(us, 3, "us");
}

}  // namespace profshim
