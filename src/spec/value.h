// A value as somebody wrote it, in a file or in the environment, before its key has said what it must be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

/// The largest whole number a key takes: every smaller one is exact in a double too, and sums of a few do not overflow.
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
  /// From the environment or the command line: `text` is to be read as whatever type the key has.
  bool loose = false;
  int line = 0, column = 0;  // in the file; 0 = none
};

/// Why a key does not take a value.
struct Refusal {
  std::string message, hint;
  int line = 0, column = 0;  // 0 = at the value itself
};

/// One key with the value it was given, and where.
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

/// "a whole number", "a list", ...: what somebody wrote, for messages.
std::string_view describe_kind(const Value& value);
/// The value in quotes, cut to a readable length.
std::string quoted(std::string_view text);
/// A TOML basic string.
std::string toml_string(std::string_view text);

// What a value says when read as a type. False with a message when it does not.
bool read_boolean(const Value& value, bool& out, Refusal& refusal);
bool read_integer(const Value& value, std::int64_t& out, Refusal& refusal);
bool read_number(const Value& value, double& out, Refusal& refusal);
bool read_text(const Value& value, std::string& out, Refusal& refusal);
bool read_size(const Value& value, std::uint64_t& out, Refusal& refusal);
/// Entries of a list; a loose text is split at commas, with or without [ ].
bool read_list(const Value& value, std::vector<Value>& out, Refusal& refusal);
bool read_texts(const Value& value, std::vector<std::string>& out, Refusal& refusal);

/// The words a strict boolean may be. Returns 1, 0, or -1 for none of them.
int boolean_word(std::string_view text);

}  // namespace profshim::spec
