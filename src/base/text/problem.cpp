#include "profshim/base/problem.h"

#include <string_view>

namespace profshim {
namespace {

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

}  // namespace

std::string to_line(const Problem& problem) {
  std::string line;
  if (!problem.file.empty()) {
    line += problem.file;
    if (problem.line > 0) line += ":" + std::to_string(problem.line);
    if (problem.line > 0 && problem.column > 0) line += ":" + std::to_string(problem.column);
    line += ": ";
  }
  if (!problem.key.empty()) line += problem.key + ": ";
  if (problem.severity == Problem::Severity::kWarning) line += "warning: ";
  line += problem.message;
  if (!problem.hint.empty()) line += "; " + problem.hint;
  return one_line(line);
}

}  // namespace profshim
