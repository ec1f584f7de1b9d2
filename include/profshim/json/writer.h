// JsonWriter: builds JSON text. Not for hooks: it allocates.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profshim {

class JsonWriter {
 public:
  /// kCompact: {"a":1,"b":2}. kSpaced: {"a": 1, "b": 2}. kIndented: a line per member or element, one blank per level.
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
  /// 17 digits, so that readers get the same number; null for NaN and infinity.
  JsonWriter& value(double number);
  template <class Value>
  JsonWriter& value(const std::optional<Value>& of) {
    return of ? value(*of) : null();
  }
  /// Keeps bytes that are not UTF-8.
  JsonWriter& bytes(std::string_view text);
  JsonWriter& decimal(double number, int decimals);
  JsonWriter& null() { return raw("null"); }
  /// `json` must be valid.
  JsonWriter& raw(std::string_view json);

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& of) {
    return key(name).value(of);
  }
  template <class Values>
  JsonWriter& list(std::string_view name, const Values& values) {
    key(name).open_list();
    for (const auto& each : values) value(each);
    return close_list();
  }

  /// Puts the next member, element or closing bracket on a new line behind `indent` blanks.
  JsonWriter& line(int indent);
  JsonWriter& line_unless_first(int indent) { return first_ ? *this : line(indent); }

  const std::string& text() const { return text_; }
  int depth() const { return depth_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  bool break_line();
  void new_line(int indent);

  Layout layout_;
  int depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
  int line_ = -1;  // indentation from line(); -1 = no new line
  std::string text_;
};

}  // namespace profshim
