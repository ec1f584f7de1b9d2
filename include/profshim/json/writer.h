// Writes JSON as text: members and elements in order, with commas, quotes and escapes in the right places. The caller
// closes what it opens. Never in a hook: it allocates.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profshim {

class JsonWriter {
 public:
  /// kCompact writes {"a":1,"b":2}, kSpaced {"a": 1, "b": 2}, kIndented a line for each member and element, behind a
  /// blank for each level.
  enum class Layout : std::uint8_t { kCompact, kSpaced, kIndented };
  explicit JsonWriter(Layout layout = Layout::kSpaced) : layout_(layout) {}

  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_list() { return open('['); }
  JsonWriter& close_list() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  template <std::integral Integer>
  JsonWriter& value(Integer number) {
    return raw(std::to_string(number));
  }
  /// A number with as many digits as it takes to read the same number back; JSON has no infinity: null.
  JsonWriter& value(double number);
  /// null if there is no value.
  template <class Value>
  JsonWriter& value(const std::optional<Value>& of) {
    return of ? value(*of) : null();
  }
  /// A text that a reader shall get back byte by byte, as a path: bytes that are not UTF-8 stay as they are.
  JsonWriter& bytes(std::string_view text);
  /// A number with a fixed number of decimals.
  JsonWriter& decimal(double number, int decimals);
  JsonWriter& null() { return raw("null"); }
  /// A JSON text as it stands; the caller makes sure that it is valid.
  JsonWriter& raw(std::string_view json);

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& of) {
    return key(name).value(of);
  }
  /// A member that is a list of `values`.
  template <class Values>
  JsonWriter& list(std::string_view name, const Values& values) {
    key(name).open_list();
    for (const auto& each : values) value(each);
    return close_list();
  }

  /// Puts the next member, element or closing bracket on a new line, behind `indent` blanks.
  JsonWriter& line(int indent);
  /// The same, except for the first member or element, which stays beside the bracket.
  JsonWriter& line_unless_first(int indent) { return first_ ? *this : line(indent); }

  const std::string& text() const { return text_; }
  /// Returns the number of open objects and lists.
  int depth() const { return depth_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  bool break_line();  // returns true if line() asked for a new line
  void new_line(int indent);

  Layout layout_;
  int depth_ = 0;
  bool first_ = true;       // no comma in front of the next member or element
  bool after_key_ = false;  // the next value belongs to a key
  int line_ = -1;           // indentation that line() asked for; -1 = no new line
  std::string text_;
};

}  // namespace profshim
