#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/model/texts.h"
#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

struct KeyRowId {
  TextId name, shapes;  // in KeyRows::texts()
  int node_id;
  bool on_device, annotation, asynchronous;
  bool operator==(const KeyRowId&) const = default;
};

/// Orders events by begin, then the longer event first, then as in the files.
struct EventPlace {
  std::int64_t begin = 0, end = 0;
  std::uint64_t in_file = 0;
  std::uint64_t file = 0;
  bool is_before(const EventPlace& other) const;
};

class KeyRows {
 public:
  Texts& texts() { return texts_; }
  /// Returns the event's row, valid until the next add_event(). The caller adds bytes and nanoseconds.
  KeyRow& add_event(const KeyRowId& key, const EventPlace& place, bool top_level);
  /// Returns the rows in the order of their first events, with times in microseconds.
  std::vector<KeyRow> finish();

 private:
  struct RowKeyHash {
    std::size_t operator()(const KeyRowId& key) const;
  };
  struct Row {
    KeyRow sums;
    EventPlace first;
  };

  Texts texts_;
  std::unordered_map<KeyRowId, std::size_t, RowKeyHash> index_;
  std::vector<Row> rows_;
};

}  // namespace profshim::analysis_detail
