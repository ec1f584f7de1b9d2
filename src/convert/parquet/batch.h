#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "columns.h"

namespace profshim::convert_detail {

/// Rows that are not set are null.
class Column {
 public:
  void open(ColumnType type, std::size_t rows);
  void set(std::size_t row, std::int64_t value);
  void set(std::size_t row, std::string_view text);
  /// Call for every row of a kText column, in order.
  void end_row(std::size_t row);
  void clear(std::size_t rows);

  ColumnType type() const { return type_; }
  bool is_empty() const { return set_ == 0; }
  std::size_t text_bytes() const { return text_.size(); }
  /// Buffers in Arrow's memory layout: values() holds numbers, dictionary indices, or offsets into text() (kText).
  std::string_view validity(std::size_t rows) const;
  std::string_view values(std::size_t rows) const;
  std::string_view text() const { return text_; }
  std::string_view text_offsets() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  ColumnType type_{};
  std::size_t set_ = 0;
  std::vector<std::uint8_t> valid_;
  std::vector<std::int64_t> wide_;
  std::vector<std::int32_t> narrow_;
  std::string text_;
  std::vector<std::int32_t> offsets_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> known_;
};

class Batch {
 public:
  static constexpr std::size_t kRows = 1 << 18;

  Batch();
  void set(ColumnId column, std::int64_t value) { at(column).set(rows_, value); }
  void set(ColumnId column, std::string_view text) { at(column).set(rows_, text); }
  void end_row();
  bool is_full() const;
  std::size_t rows() const { return rows_; }
  const Column& column(std::size_t number) const { return columns_[number]; }
  void clear();

 private:
  Column& at(ColumnId column) { return columns_[static_cast<std::size_t>(column)]; }
  std::array<Column, kColumns> columns_;
  std::size_t rows_ = 0;
};

}  // namespace profshim::convert_detail
