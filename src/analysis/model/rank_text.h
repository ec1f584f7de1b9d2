// Finds the rank in a trace's text as HTA does: the first match of  "rank":\s+(\d+)  in a line, anywhere in the JSON.
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::analysis_detail {

class RankText {
 public:
  void feed(std::string_view piece);
  /// -1 = none; HTA then takes rank 0.
  std::int64_t rank() const { return digits_ > 0 ? rank_ : -1; }

 private:
  void step(char c);
  std::size_t matched_ = 0;
  bool blank_ = false, done_ = false;
  int digits_ = 0;
  std::int64_t rank_ = 0;
};

}  // namespace profshim::analysis_detail
