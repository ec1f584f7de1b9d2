#include "syntax.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "spec/value.h"

namespace profshim::spec {
namespace {

constexpr std::string_view kBareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Functions move `at_` behind the part that they read, or return false.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::optional<Problem> scan() {
    if (next_is("\xef\xbb\xbf")) at_ += 3;  // byte order mark
    while (!done()) {
      skip_blanks();
      if (ends_line()) {
        if (!end_of_line()) break;
        continue;
      }
      if (peek() == '[' ? !header() : !pair()) break;
      skip_blanks();
      if (!ends_line()) {
        fail(at_,
             "more text after the end of " + std::string(text_[statement_] == '[' ? "the table's name" : "the value"),
             "write one key on a line");
        break;
      }
      if (!end_of_line()) break;
    }
    return problem_;
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool ends_line() const { return done() || peek() == '\n' || peek() == '\r' || peek() == '#'; }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  bool fail(std::size_t at, const std::string& message, std::string hint = "") {
    const std::string_view before = text_.substr(0, at);
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? at : at - newline - 1;
    problem_ = syntax_problem(name_, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
                              static_cast<int>(column) + 1, message);
    problem_->hint = std::move(hint);
    return false;
  }

  bool end_of_line() {
    if (peek() == '#') at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    if (done()) return true;
    if (peek() == '\r' && peek(1) != '\n')
      return fail(at_, "a carriage return without a newline (save the file with Unix line ends)");
    at_ += peek() == '\r' ? 2 : 1;
    return true;
  }

  bool skip_lines() {
    for (skip_blanks(); !done() && ends_line(); skip_blanks()) {
      if (!end_of_line()) return false;
    }
    return true;
  }

  bool header() {
    statement_ = at_;
    const std::string_view close = next_is("[[") ? "]]" : "]";
    at_ += close.size();
    skip_blanks();
    if (!key()) return false;
    skip_blanks();
    if (!next_is(close)) return fail(at_, "the table's name does not end with " + quoted(close));
    at_ += close.size();
    return true;
  }

  bool pair() {
    const std::size_t begin = statement_ = at_;
    if (!key()) return false;
    const std::string_view name = text_.substr(begin, at_ - begin);
    skip_blanks();
    if (peek() != '=') return fail(at_, "\"=\" is missing after the key " + quoted(name));
    ++at_;
    skip_blanks();
    if (ends_line()) return fail(at_, "a value is missing after \"=\"");
    return value();
  }

  bool key() {
    while (true) {
      const std::size_t begin = at_;
      if (peek() == '"' || peek() == '\'') {
        if (next_is("\"\"\"") || next_is("'''")) return fail(at_, "a key cannot be a text of several lines");
        if (!string()) return false;
      } else {
        at_ = std::min(text_.find_first_not_of(kBareKey, at_), text_.size());
        if (at_ == begin) {
          return ends_line() ? fail(at_, "a key is missing") : fail(at_, quoted(character()) + " is not a key");
        }
      }
      const std::size_t end = at_;
      skip_blanks();
      if (peek() != '.') {
        at_ = end;
        return true;
      }
      ++at_;
      skip_blanks();
    }
  }

  std::string_view character() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return text_.substr(at_, end - at_);
  }

  bool value() {
    switch (peek()) {
      case '"':
      case '\'':
        return string();
      case '[':
        return list();
      case '{':
        return inline_table();
      default:
        return scalar();
    }
  }

  bool scalar() {
    const std::size_t begin = at_;
    const auto to_end = [&] { at_ = std::min(text_.find_first_of(" \t\r\n,]}#=", at_), text_.size()); };
    to_end();
    // A blank may separate a date from a time.
    const bool date = at_ - begin == 10 && text_[begin + 4] == '-' && text_[begin + 7] == '-';
    if (date && peek() == ' ' && peek(1) >= '0' && peek(1) <= '9') {
      ++at_;
      to_end();
    }
    if (at_ == begin) return fail(at_, "a value is missing before " + quoted(character()));
    const std::string why = check_scalar(text_.substr(begin, at_ - begin));
    if (why.empty()) return true;
    const bool word = why.ends_with("is not a value");
    return fail(begin, why, word ? "put the text in quotes" : "");
  }

  bool list() {
    const std::size_t begin = at_++;
    const char* const open = "the list does not end with \"]\"";
    while (true) {
      if (!skip_lines()) return false;
      if (done()) return fail(begin, open);
      if (peek() == ']') break;
      if (!value() || !skip_lines()) return false;
      if (done()) return fail(begin, open);
      if (peek() == ']') break;
      if (peek() != ',') return fail(at_, "\",\" is missing between two values");
      ++at_;
    }
    ++at_;
    return true;
  }

  bool inline_table() {
    const std::size_t begin = at_++;
    skip_blanks();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    while (true) {
      const std::size_t statement = statement_;
      skip_blanks();
      if (ends_line()) return fail(begin, "the table does not end with \"}\" on its line");
      if (!pair()) return false;
      statement_ = statement;
      skip_blanks();
      if (peek() == '}') break;
      if (ends_line()) return fail(begin, "the table does not end with \"}\" on its line");
      if (peek() != ',') return fail(at_, "\",\" is missing between two keys");
      ++at_;
    }
    ++at_;
    return true;
  }

  bool string() {
    const std::size_t begin = at_;
    const std::string quote(1, peek());
    const bool lines = next_is(quote + quote + quote);
    at_ += lines ? 3 : 1;
    while (!done()) {
      if (lines ? next_is(quote + quote + quote) : next_is(quote)) {
        at_ += lines ? 3 : 1;
        // Up to two quotes before the closing three belong to the text.
        for (int more = 0; lines && more < 2 && next_is(quote); ++more) ++at_;
        return true;
      }
      if (!lines && (peek() == '\n' || peek() == '\r')) break;
      if (peek() == '\r' && peek(1) != '\n')
        return fail(at_, "a carriage return without a newline (save the file with Unix line ends)");
      if (peek() == '\\' && quote == "\"") {
        if (!escape(lines)) return false;
      } else {
        ++at_;
      }
    }
    return fail(begin, "the quotes of the text are not closed");
  }

  bool escape(bool lines) {
    const std::size_t begin = at_++;
    if (!done() && std::string_view("btnfr\"\\").find(peek()) != std::string_view::npos) {
      ++at_;
      return true;
    }
    if (peek() == 'u' || peek() == 'U') return unicode(begin, peek() == 'u' ? 4 : 8);
    if (lines) {
      skip_blanks();
      if (peek() == '\n' || next_is("\r\n")) return true;
      at_ = begin + 1;
    }
    return fail(begin, "\"\\\" does not start a known escape sequence",
                "write \\\\ for a backslash, or put the text in single quotes");
  }

  bool unicode(std::size_t begin, std::size_t digits) {
    std::uint32_t code = 0;
    const std::string_view hex = text_.substr(std::min(at_ + 1, text_.size()), digits);
    for (const char c : hex) {
      const std::size_t digit =
          std::string_view("0123456789abcdef").find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
      if (digit == std::string_view::npos) break;
      code = code * 16 + static_cast<std::uint32_t>(digit);
      ++at_;
    }
    if (at_ - begin != digits + 1) {
      return fail(begin, quoted(text_.substr(begin, 2)) + " needs " + std::to_string(digits) + " hexadecimal digits");
    }
    ++at_;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      return fail(begin, quoted(text_.substr(begin, digits + 2)) + " is not a Unicode character");
    }
    return true;
  }

  const std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, statement_ = 0;
  std::optional<Problem> problem_;
};

}  // namespace

Problem syntax_problem(const std::string& name, int line, int column, const std::string& message) {
  Problem problem;
  problem.file = name;
  problem.line = line;
  problem.column = column;
  problem.message = "not valid TOML: " + message;
  return problem;
}

std::optional<Problem> check_syntax(std::string_view text, const std::string& name) {
  return Scanner(text, name).scan();
}

}  // namespace profshim::spec
