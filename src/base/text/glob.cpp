#include "profshim/base/glob.h"

#include <cstddef>

namespace profshim {
namespace {

bool element_matches(std::string_view pattern, std::size_t at, char c, std::size_t& next) {
  next = at + 1;
  if (pattern[at] == '?') return true;
  if (pattern[at] != '[') return pattern[at] == c;

  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  const std::size_t first = i;
  const auto byte = [](char x) { return static_cast<unsigned char>(x); };
  bool found = false;
  // A ']' right after "[" or "[!" belongs to the set.
  for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found |= byte(pattern[i]) <= byte(c) && byte(c) <= byte(pattern[i + 2]);
      i += 2;
    } else {
      found |= pattern[i] == c;
    }
  }
  if (i >= pattern.size()) return c == '[';
  next = i + 1;
  return found != negated;
}

}  // namespace

// The cost is at most pattern length times text length: backtracking to the last star suffices.
bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    std::size_t next = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && element_matches(pattern, p, text[t], next)) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string_view glob_literal_prefix(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("*?["));
}

}  // namespace profshim
