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

/// How include.combine = "union" or "intersection" joins two values; everything else: the later one wins.
enum class Combine : std::uint8_t { kLastWins, kRankSet, kStepSet, kNameSet };

struct KeyRow {
  std::string key;
  std::string type;
  std::string values;
  std::string_view short_forms;
  std::string_view sentence;
  /// Checks the value and stores it; the Spec is untouched when it is refused.
  std::function<bool(const Value&, Spec&, Refusal&)> store;
  /// The value in force as TOML. Empty for the keys that are used up by the loading itself (version, include).
  std::function<std::string(const Spec&)> print;
  std::string default_value;
  Combine combine = Combine::kLastWins;
};

/// In the order of the reference; keys of one table stand together.
const std::vector<KeyRow>& key_rows();
const KeyRow* find_row(std::string_view key);
/// "schedule.active" -> "schedule"; "" for what stands above the first table.
std::string_view table_of(std::string_view key);
/// skip_first, wait, warmup, active, repeat, skip_first_wait: what a list of steps replaces.
bool is_cycle_key(std::string_view key);

}  // namespace profshim::spec
