#include "key_rows.h"

#include <algorithm>
#include <tuple>

namespace profshim::analysis_detail {

bool EventPlace::is_before(const EventPlace& other) const {
  return std::tie(begin, other.end, file, in_file) < std::tie(other.begin, end, other.file, other.in_file);
}

std::size_t KeyRows::RowKeyHash::operator()(const KeyRowId& key) const {
  constexpr std::size_t kFactor = 0x9E3779B97F4A7C15u;
  const std::size_t texts =
      (std::size_t{key.name} << 32 | key.shapes) * kFactor + static_cast<std::size_t>(key.node_id);
  return texts * kFactor + (key.on_device ? 1 : 0) + (key.annotation ? 2 : 0) + (key.asynchronous ? 4 : 0);
}

KeyRow& KeyRows::add_event(const KeyRowId& key, const EventPlace& place, bool top_level) {
  const auto [at, is_new] = index_.emplace(key, rows_.size());
  if (is_new) {
    KeyRow sums;
    sums.name = texts_[key.name];
    sums.input_shapes = texts_[key.shapes];
    sums.node_id = key.node_id;
    sums.on_device = key.on_device;
    sums.annotation = key.annotation;
    sums.asynchronous = key.asynchronous;
    sums.top_level = top_level;
    rows_.push_back({std::move(sums), place});
  }
  Row& row = rows_[at->second];
  if (place.is_before(row.first)) {
    row.first = place;
    row.sums.top_level = top_level;
  }
  ++row.sums.calls;
  return row.sums;
}

std::vector<KeyRow> KeyRows::finish() {
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.first.is_before(b.first); });
  std::vector<KeyRow> result;
  for (Row& row : rows_) {
    KeyRow& sums = row.sums;
    for (double* us : {&sums.self_cpu_us, &sums.cpu_total_us, &sums.self_device_us, &sums.device_total_us}) *us /= 1000;
    result.push_back(std::move(sums));
  }
  return result;
}

}  // namespace profshim::analysis_detail
