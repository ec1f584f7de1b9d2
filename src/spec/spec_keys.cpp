#include "spec_keys.h"

#include <algorithm>
#include <cstddef>

namespace profshim::spec {

const KeyRow* find_row(std::string_view key) {
  const auto& rows = key_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view table_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

bool is_cycle_key(std::string_view key) {
  for (const std::string_view name : {"skip_first", "wait", "warmup", "active", "repeat", "skip_first_wait"}) {
    if (table_of(key) == "schedule" && key.substr(key.find('.') + 1) == name) return true;
  }
  return false;
}

}  // namespace profshim::spec

namespace profshim {

const std::vector<KeyInfo>& spec_keys() {
  static const auto& kKeys = *[] {
    auto& keys = *new std::vector<KeyInfo>;
    for (const spec::KeyRow& row : spec::key_rows()) {
      keys.push_back({row.key, row.type, row.values, row.default_value, row.short_forms, row.sentence});
    }
    return &keys;
  }();
  return kKeys;
}

}  // namespace profshim
