// Finds the rank as HTA does: the first match of  "rank":\s+(\d+)  within a line of the file's text, anywhere in the
// JSON.
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::analysis_detail {

class RankText {
 public:
  /// Takes the next piece of the text.
  void feed(std::string_view piece);
  /// Returns -1 if there is no match; HTA then takes the file for rank 0.
  std::int64_t rank() const { return digits_ > 0 ? rank_ : -1; }

 private:
  void step(char c);
  std::size_t matched_ = 0;  // characters of the key so far
  bool blank_ = false, done_ = false;
  int digits_ = 0;
  std::int64_t rank_ = 0;
};

}  // namespace profshim::analysis_detail
