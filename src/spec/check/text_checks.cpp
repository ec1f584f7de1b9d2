#include <algorithm>
#include <cstddef>

#include "checks.h"

namespace profshim::spec {
namespace {

constexpr int kDeepest = 64;

Problem problem_at(std::string_view text, std::size_t at, const std::string& name, std::string message,
                   std::string hint) {
  Problem problem;
  problem.file = name;
  const std::string_view before = text.substr(0, at);
  problem.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t newline = before.rfind('\n');
  problem.column = static_cast<int>(newline == std::string_view::npos ? at : at - newline - 1) + 1;
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

/// Returns 0 for invalid UTF-8.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(at + 1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned second = byte(at + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0)) return 0;
    return follows(at + 1) && follows(at + 2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned second = byte(at + 1);
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90)) return 0;
    return follows(at + 1) && follows(at + 2) && follows(at + 3) ? 4 : 0;
  }
  return 0;
}

/// Returns the end of the string or comment at `at`, else `at`. Unclosed ones end where the TOML parser ends them.
std::size_t skip_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote == '#') return std::min(text.find('\n', at), text.size());
  if (quote != '"' && quote != '\'') return at;
  const bool triple = text.substr(at, 3) == std::string(3, quote);
  std::size_t i = at + (triple ? 3 : 1);
  for (; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (!triple && text[i] == '\n') {
      return i;
    } else if (text[i] == quote && (!triple || text.substr(i, 3) == std::string(3, quote))) {
      return i + (triple ? 3 : 1);
    }
  }
  return text.size();
}

}  // namespace

std::optional<Problem> check_text(std::string_view text, const std::string& name) {
  if (text.size() > kLargestSpec) {
    Problem problem;
    problem.file = name;
    problem.message = "the text is larger than 128 KiB, the limit of a spec";
    problem.hint = "is this text a spec?";
    return problem;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return problem_at(text, at, name, "not valid UTF-8", "save the file as UTF-8");
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
      return problem_at(text, at, name, "a spec cannot hold a control character", "remove this character");
    }
    at += length;
  }
  int depth = 0, dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = skip_quoted(text, at);
    if (end > at) {
      at = end - 1;
      continue;
    }
    const char c = text[at];
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '.') ++dots;
    if (c == '\n') dots = 0;
    if (depth > kDeepest || dots > kDeepest) {
      return problem_at(text, at, name, "nested too deeply", "a spec needs at most a list inside a table");
    }
  }
  return std::nullopt;
}

}  // namespace profshim::spec
