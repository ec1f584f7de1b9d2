#include "value.h"

#include <algorithm>
#include <cmath>

#include "override_text.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"

namespace profshim::spec {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestList = 4096;

bool refuse(Refusal& refusal, std::string message, std::string hint = {}) {
  refusal.message = std::move(message);
  refusal.hint = std::move(hint);
  return false;
}

bool wrong_type(Refusal& refusal, std::string_view wanted, const Value& value, std::string hint = {}) {
  std::string message = "must be " + std::string(wanted);
  message += value.loose ? ", not " + quoted(value.text) : ", not " + std::string(describe_kind(value));
  return refuse(refusal, std::move(message), std::move(hint));
}

bool plain(const Value& value, std::string& out, Refusal& refusal) {
  if (!value.loose) {
    out = value.text;
    return true;
  }
  return unquote(value.text, out) || refuse(refusal, "the quotes of " + quoted(value.text) + " are not closed");
}

}  // namespace

Value loose_text(std::string text) {
  Value value = make_text(std::move(text));
  value.loose = true;
  return value;
}

Value make_text(std::string text) {
  Value value;
  value.text = std::move(text);
  return value;
}

Value make_list(std::vector<std::string> texts) {
  Value value;
  value.kind = Value::Kind::kList;
  for (std::string& text : texts) value.items.push_back(make_text(std::move(text)));
  return value;
}

std::string_view describe_kind(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kBoolean:
      return "a boolean";
    case Value::Kind::kInteger:
      return "a whole number";
    case Value::Kind::kFloat:
      return "a number with a fraction";
    case Value::Kind::kText:
      return "a text";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kDate:
      return "a date or time";
    case Value::Kind::kTable:
      return "a table";
  }
  return "";
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string out = "\"";
  out += text.substr(0, kShown);
  if (text.size() > kShown) out += "...";
  return out + "\"";
}

std::string toml_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

int boolean_word(std::string_view text) {
  for (const std::string_view word : {"1", "true", "yes", "on"}) {
    if (text == word) return 1;
  }
  for (const std::string_view word : {"0", "false", "no", "off"}) {
    if (text == word) return 0;
  }
  return -1;
}

bool read_boolean(const Value& value, bool& out, Refusal& refusal) {
  constexpr const char* kAllowed = "allowed: 1, true, yes, on, 0, false, no, off";
  if (value.kind == Value::Kind::kBoolean) {
    out = value.boolean;
    return true;
  }
  if (value.kind == Value::Kind::kInteger && (value.integer == 0 || value.integer == 1)) {
    out = value.integer == 1;
    return true;
  }
  if (value.kind != Value::Kind::kText) return wrong_type(refusal, "a boolean", value, kAllowed);
  std::string text;
  if (!plain(value, text, refusal)) return false;
  const int word = boolean_word(text);
  if (word < 0) return refuse(refusal, quoted(text) + " is not a boolean", kAllowed);
  out = word == 1;
  return true;
}

bool read_integer(const Value& value, std::int64_t& out, Refusal& refusal) {
  if (value.kind == Value::Kind::kInteger) {
    out = value.integer;
    return true;
  }
  std::string text;
  if (!value.loose) return wrong_type(refusal, "a whole number", value);
  if (!plain(value, text, refusal)) return false;
  return profshim::parse_number(text, out) || wrong_type(refusal, "a whole number", value);
}

bool read_number(const Value& value, double& out, Refusal& refusal) {
  bool parsed = true;
  if (value.kind == Value::Kind::kInteger) {
    out = static_cast<double>(value.integer);
  } else if (value.kind == Value::Kind::kFloat) {
    out = value.number;
  } else if (value.loose) {
    std::string text;
    if (!plain(value, text, refusal)) return false;
    parsed = profshim::parse_number(text, out);
  } else {
    parsed = false;
  }
  if (!parsed) return wrong_type(refusal, "a number", value);
  return std::isfinite(out) || refuse(refusal, "must be a finite number");
}

bool read_text(const Value& value, std::string& out, Refusal& refusal) {
  if (value.kind != Value::Kind::kText) return wrong_type(refusal, "a text", value, "put it in quotes");
  std::string text;
  if (!plain(value, text, refusal)) return false;
  if (text.size() > kLongestText) return refuse(refusal, "the text is longer than 4096 bytes");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control)) {
    return refuse(refusal, "the text holds a control character",
                  "remove it; line breaks, tabs and NUL are refused too");
  }
  out = std::move(text);
  return true;
}

bool read_size(const Value& value, std::uint64_t& out, Refusal& refusal) {
  constexpr const char* kExample = "write it like \"2GiB\", \"512MB\" or 1048576";
  if (value.kind == Value::Kind::kInteger) {
    if (value.integer < 0) return refuse(refusal, "a size cannot be negative", kExample);
    out = static_cast<std::uint64_t>(value.integer);
    return true;
  }
  if (value.kind != Value::Kind::kText) return wrong_type(refusal, "a size", value, kExample);
  std::string text;
  if (!plain(value, text, refusal)) return false;
  return parse_size(text, out) || refuse(refusal, quoted(text) + " is not a size", kExample);
}

bool read_list(const Value& value, std::vector<Value>& out, Refusal& refusal) {
  if (value.kind == Value::Kind::kList) {
    out = value.items;
  } else if (value.loose) {
    std::vector<std::string> entries;
    if (!split_list(value.text, entries)) return refuse(refusal, "the brackets or quotes of the list are not closed");
    for (std::string& entry : entries) out.push_back(loose_text(std::move(entry)));
  } else {
    return wrong_type(refusal, "a list", value, "write it like [\"a\", \"b\"]");
  }
  return out.size() <= kLongestList || refuse(refusal, "the list has more than 4096 entries");
}

bool read_texts(const Value& value, std::vector<std::string>& out, Refusal& refusal) {
  std::vector<Value> entries;
  if (!read_list(value, entries, refusal)) return false;
  out.clear();
  for (const Value& entry : entries) {
    std::string text;
    if (!read_text(entry, text, refusal)) {
      refusal.message = "entry " + std::to_string(out.size() + 1) + " " + refusal.message;
      refusal.line = entry.line;
      refusal.column = entry.column;
      return false;
    }
    out.push_back(std::move(text));
  }
  return true;
}

}  // namespace profshim::spec
