// A setting's value as written, before its key has checked the type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

/// Largest number in a spec: exact in a double, and sums of a few do not overflow.
inline constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

struct Value {
  enum class Kind : std::uint8_t { kBoolean, kInteger, kFloat, kText, kList, kDate, kTable };
  Kind kind = Kind::kText;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Value> items;
  std::string name;
  /// True for values from environment and command line: the key parses `text` as its type.
  bool loose = false;
  int line = 0, column = 0;
};

struct Refusal {
  std::string message, hint;
  int line = 0, column = 0;
};

struct Given {
  std::string key;
  Value value;
  std::string file;    // path, "PROFSHIM_SET", "--ranks", ...
  std::string origin;  // "run.toml:12", "PROFSHIM_SET", ...
  bool overridden = false;
};

Value loose_text(std::string text);
Value make_text(std::string text);
Value make_list(std::vector<std::string> texts);

std::string_view describe_kind(const Value& value);
std::string quoted(std::string_view text);
std::string toml_string(std::string_view text);

bool read_boolean(const Value& value, bool& out, Refusal& refusal);
bool read_integer(const Value& value, std::int64_t& out, Refusal& refusal);
bool read_number(const Value& value, double& out, Refusal& refusal);
bool read_text(const Value& value, std::string& out, Refusal& refusal);
bool read_size(const Value& value, std::uint64_t& out, Refusal& refusal);
/// Splits a `loose` text at commas, with or without [ ].
bool read_list(const Value& value, std::vector<Value>& out, Refusal& refusal);
bool read_texts(const Value& value, std::vector<std::string>& out, Refusal& refusal);

/// Returns 1 or 0 for a word such as "on" or "off", else -1.
int boolean_word(std::string_view text);

}  // namespace profshim::spec
