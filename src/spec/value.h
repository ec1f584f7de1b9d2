// A value as it is written in a file or in the environment, before its key has checked its type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

/// The largest whole number that a key takes: all smaller ones are exact in a double, and sums of a few do not
/// overflow.
inline constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

struct Value {
  enum class Kind : std::uint8_t { kBoolean, kInteger, kFloat, kText, kList, kDate, kTable };
  Kind kind = Kind::kText;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Value> items;  // of a list; of a table in a list its members
  std::string name;          // as a member of a table
  /// True for values of the environment and the command line: the key reads `text` as its own type.
  bool loose = false;
  int line = 0, column = 0;  // in the file; 0 = none
};

/// The reason why a key refuses a value.
struct Refusal {
  std::string message, hint;
  int line = 0, column = 0;  // 0 = at the value itself
};

/// A key with its value and the place of both.
struct Given {
  std::string key;
  Value value;
  std::string file;         // path, "PROFSHIM_SET", "--ranks", ...
  std::string origin;       // "run.toml:12", "PROFSHIM_SET", ...
  bool overridden = false;  // by the environment or the command line
};

Value loose_text(std::string text);
Value make_text(std::string text);
Value make_list(std::vector<std::string> texts);

/// Describes the type of a value for messages: "a whole number", "a list".
std::string_view describe_kind(const Value& value);
/// Returns the value in quotes, cut to a readable length.
std::string quoted(std::string_view text);
/// Returns the text as a TOML basic string.
std::string toml_string(std::string_view text);

// Each reads a value as one type, and returns false with a message if the value is of another.
bool read_boolean(const Value& value, bool& out, Refusal& refusal);
bool read_integer(const Value& value, std::int64_t& out, Refusal& refusal);
bool read_number(const Value& value, double& out, Refusal& refusal);
bool read_text(const Value& value, std::string& out, Refusal& refusal);
bool read_size(const Value& value, std::uint64_t& out, Refusal& refusal);
/// Reads the entries of a list. A text from the environment is split at commas, with or without [ ].
bool read_list(const Value& value, std::vector<Value>& out, Refusal& refusal);
bool read_texts(const Value& value, std::vector<std::string>& out, Refusal& refusal);

/// Returns 1 or 0 for the words of a strict boolean, else -1.
int boolean_word(std::string_view text);

}  // namespace profshim::spec
