#include "override_text.h"

#include <charconv>
#include <cstddef>

#include "value.h"

namespace profshim::spec {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

class Nesting {
 public:
  bool at_top(char c) {
    if (quote_ != 0) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\' && quote_ == '"') {
        escaped_ = true;
      } else if (c == quote_) {
        quote_ = 0;
      }
      return false;
    }
    if (c == '"' || c == '\'') {
      quote_ = c;
      return false;
    }
    if (c == '[') ++depth_;
    if (c == ']' && depth_ > 0) {
      --depth_;
      return false;
    }
    return depth_ == 0;
  }
  bool closed() const { return quote_ == 0 && depth_ == 0; }

 private:
  char quote_ = 0;
  bool escaped_ = false;
  int depth_ = 0;
};

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

bool append_escape(std::string_view text, std::size_t& i, std::string& out) {
  constexpr std::string_view kLetters = "btnfr\"\\", kMeant = "\b\t\n\f\r\"\\";
  if (const std::size_t at = kLetters.find(text[i]); at != std::string_view::npos) {
    out += kMeant[at];
    return true;
  }
  if (text[i] != 'u' || i + 4 >= text.size()) return false;
  unsigned code = 0;
  const char* const digits = text.data() + i + 1;
  const auto [end, error] = std::from_chars(digits, digits + 4, code, 16);
  if (error != std::errc() || end != digits + 4 || (code >= 0xd800 && code < 0xe000)) return false;
  append_utf8(out, code);
  i += 4;
  return true;
}

}  // namespace

bool unquote(std::string_view text, std::string& out) {
  out.clear();
  text = trim(text);
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) {
    out = text;
    return true;
  }
  const char quote = text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1 == text.size();
    if (text[i] == '\\' && quote == '"') {
      if (++i >= text.size() || !append_escape(text, i, out)) return false;
    } else {
      out += text[i];
    }
  }
  return false;
}

bool split_list(std::string_view text, std::vector<std::string>& out) {
  out.clear();
  text = trim(text);
  if (!text.empty() && text.front() == '[') {
    if (text.size() < 2 || text.back() != ']') return false;
    text = trim(text.substr(1, text.size() - 2));
  }
  if (text.empty()) return true;
  Nesting nesting;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!nesting.at_top(text[i]) || text[i] != ',') continue;
    out.emplace_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  out.emplace_back(trim(text.substr(begin)));
  return nesting.closed();
}

bool split_assignment(std::string_view text, Assignment& out, std::string& message) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    message = quoted(text) + " is not of the form key=value";
    return false;
  }
  out.key = trim(text.substr(0, equals));
  out.value = trim(text.substr(equals + 1));
  if (out.key.empty()) message = quoted(text) + " names no key before the \"=\"";
  return !out.key.empty();
}

namespace {

/// True for "schedule.steps=3": what stands before it was not meant to go on.
bool begins_with_assignment(std::string_view text) {
  constexpr std::string_view kInKey = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  const std::size_t end = text.find_first_not_of(kInKey);
  const std::size_t dot = text.find('.');
  return end != std::string_view::npos && text[end] == '=' && dot > 0 && dot + 1 < end;
}

}  // namespace

bool split_assignments(std::string_view text, std::vector<Assignment>& out, std::string& message) {
  Nesting nesting;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool at_top = i < text.size() && nesting.at_top(text[i]);
    if (at_top && (text[i] == ';' || text[i] == ',') && begins_with_assignment(text.substr(i + 1))) {
      message = "a blank, not \"" + std::string(1, text[i]) + "\", must stand before " + quoted(text.substr(i + 1));
      return false;
    }
    if (i < text.size() && !(at_top && is_blank(text[i]))) continue;
    const std::string_view piece = trim(text.substr(begin, i - begin));
    begin = i + 1;
    if (piece.empty()) continue;
    if (i == text.size() && !nesting.closed()) {
      message = "the quotes or brackets of " + quoted(piece) + " are not closed";
      return false;
    }
    Assignment assignment;
    if (!split_assignment(piece, assignment, message)) return false;
    out.push_back(std::move(assignment));
  }
  return true;
}

}  // namespace profshim::spec
