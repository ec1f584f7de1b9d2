#include "profshim/json/writer.h"

#include <charconv>
#include <cmath>

#include "profshim/base/text/number_text.h"
#include "profshim/json.h"
#include "profshim/json/text_clean.h"

namespace profshim {

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += ',';
  if (layout_ == Layout::kIndented && depth_ > 0) {
    new_line(depth_);
  } else if (!break_line() && !first_ && layout_ == Layout::kSpaced) {
    text_ += ' ';
  }
  first_ = false;
}

bool JsonWriter::break_line() {
  if (line_ < 0) return false;
  new_line(line_);
  line_ = -1;
  return true;
}

void JsonWriter::new_line(int indent) {
  text_ += '\n';
  text_.append(static_cast<std::size_t>(indent), ' ');
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_string(name);
  text_ += layout_ == Layout::kCompact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_string(text)); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  char text[64];
  return raw({text, std::to_chars(text, text + sizeof text, number, std::chars_format::general, 17).ptr});
}

JsonWriter& JsonWriter::bytes(std::string_view text) { return raw(trace_detail::quoted_bytes(text)); }

JsonWriter& JsonWriter::decimal(double number, int decimals) { return raw(fixed_text(number, decimals)); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::line(int indent) {
  line_ = indent;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  ++depth_;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  --depth_;
  if (layout_ == Layout::kIndented && !first_) new_line(depth_);
  break_line();
  text_ += bracket;
  first_ = false;
  return *this;
}

}  // namespace profshim
