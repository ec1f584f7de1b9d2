#include "batch.h"

#include <algorithm>

namespace profshim::convert_detail {
namespace {

constexpr std::size_t kMostTextBytes = 64u << 20;

template <class Number>
std::string_view bytes_of(const std::vector<Number>& numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers.data()), count * sizeof(Number)};
}

}  // namespace

void Column::open(ColumnType type, std::size_t rows) {
  type_ = type;
  valid_.assign(rows / 8 + 1, 0);
  if (type == ColumnType::kInt64) {
    wide_.assign(rows, 0);
  } else {
    narrow_.assign(rows + 1, 0);
  }
  offsets_ = {0};
}

void Column::set(std::size_t row, std::int64_t value) {
  if (type_ == ColumnType::kInt64) {
    wide_[row] = value;
  } else {
    narrow_[row] = static_cast<std::int32_t>(value);
  }
  valid_[row / 8] |= static_cast<std::uint8_t>(1u << row % 8);
  ++set_;
}

void Column::set(std::size_t row, std::string_view text) {
  if (type_ == ColumnType::kText) {
    text_ += text;
    valid_[row / 8] |= static_cast<std::uint8_t>(1u << row % 8);
    ++set_;
    return;
  }
  auto at = known_.find(text);
  if (at == known_.end()) {
    at = known_.emplace(text, static_cast<std::int32_t>(known_.size())).first;
    text_ += text;
    offsets_.push_back(static_cast<std::int32_t>(text_.size()));
  }
  set(row, std::int64_t{at->second});
}

void Column::end_row(std::size_t row) {
  if (type_ == ColumnType::kText) narrow_[row + 1] = static_cast<std::int32_t>(text_.size());
}

void Column::clear(std::size_t rows) {
  std::fill_n(valid_.begin(), rows / 8 + 1, 0);
  text_.clear();
  offsets_ = {0};
  known_.clear();
  set_ = 0;
}

std::string_view Column::validity(std::size_t rows) const { return bytes_of(valid_, (rows + 7) / 8); }

std::string_view Column::values(std::size_t rows) const {
  if (type_ == ColumnType::kInt64) return bytes_of(wide_, rows);
  return bytes_of(narrow_, type_ == ColumnType::kText ? rows + 1 : rows);
}

std::string_view Column::text_offsets() const { return bytes_of(offsets_, offsets_.size()); }

Batch::Batch() {
  for (std::size_t i = 0; i < kColumns; ++i) columns_[i].open(kColumnSpecs[i].type, kRows);
}

void Batch::end_row() {
  at(ColumnId::kArgs).end_row(rows_);
  ++rows_;
}

bool Batch::is_full() const {
  if (rows_ == kRows) return true;
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const Column& column) { return column.text_bytes() > kMostTextBytes; });
}

void Batch::clear() {
  for (Column& column : columns_) column.clear(rows_);
  rows_ = 0;
}

}  // namespace profshim::convert_detail
