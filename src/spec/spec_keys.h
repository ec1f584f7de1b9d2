// The one table of keys, for loader, checker, `profshim keys`, to_toml() and config/reference.toml.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"
#include "value.h"

namespace profshim::spec {

enum class Combine : std::uint8_t { kLastWins, kRankSet, kStepSet, kNameSet };

/// The values that the JSON schema accepts. store() may refuse some of them.
struct Accepts {
  enum class Kind : std::uint8_t {
    kText,
    kTexts,
    kWord,
    kWords,
    kBoolean,
    kInteger,
    kPositive,  // a number above 0, up to `most`
    kNumber,    // 0 or more
    kSize,
    kRanks,  // a rank expression
    kSteps,
    kTables
  };
  Kind kind = Kind::kText;
  std::int64_t least = 0, most = 0;     // of integers; `least` also of sizes
  std::vector<std::string_view> words;  // of kWord and kWords
  bool or_boolean = false;              // of kWord: a boolean is accepted, too
  std::string_view needed_word;         // of kWords; "" = any
  bool or_none = false;                 // of kWords: an empty list is accepted, too
};

struct KeyRow {
  std::string key;
  std::string type;
  std::string values;
  std::string_view short_forms;
  std::string_view sentence;
  /// Leaves the Spec unchanged if it returns false.
  std::function<bool(const Value&, Spec&, Refusal&)> store;
  /// Empty for keys that only the loader uses (version, include).
  std::function<std::string(const Spec&)> print;
  std::string default_value;
  Combine combine = Combine::kLastWins;
  Accepts accepts = {};
};

const std::vector<KeyRow>& key_rows();
const KeyRow* find_row(std::string_view key);
std::string_view table_of(std::string_view key);
/// Keys of a cycle: schedule.wait, ...
bool is_cycle_key(std::string_view key);

}  // namespace profshim::spec
