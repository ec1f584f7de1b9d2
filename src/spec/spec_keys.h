// The one table of keys: name, values, default, short forms, sentence, and how a value gets into the Spec and out of
// it. Loader, checker, `profshim keys`, to_toml() and config/reference.toml all come from it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"
#include "value.h"

namespace profshim::spec {

/// Rule by which include.combine = "union" or "intersection" joins two values. kLastWins: the later value wins.
enum class Combine : std::uint8_t { kLastWins, kRankSet, kStepSet, kNameSet };

struct KeyRow {
  std::string key;
  std::string type;
  std::string values;
  std::string_view short_forms;
  std::string_view sentence;
  /// Checks the value and stores it. Returns false and leaves the Spec unchanged if the value is refused.
  std::function<bool(const Value&, Spec&, Refusal&)> store;
  /// Returns the value in force as TOML. Empty for keys that only the loader uses (version, include).
  std::function<std::string(const Spec&)> print;
  std::string default_value;
  Combine combine = Combine::kLastWins;
};

/// Returns all rows in the order of config/reference.toml; keys of one table stand together.
const std::vector<KeyRow>& key_rows();
const KeyRow* find_row(std::string_view key);
/// Returns the table of a key: "schedule.active" -> "schedule"; "" for keys above the first table.
std::string_view table_of(std::string_view key);
/// Returns true for the keys that a list of steps replaces: skip_first, wait, warmup, active, repeat, skip_first_wait.
bool is_cycle_key(std::string_view key);

}  // namespace profshim::spec
