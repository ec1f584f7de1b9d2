// Counts events that have no duration, for traces that hold nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

class EventKinds {
 public:
  /// Takes each event that is no slice.
  void add(const ReadEvent& event) { ++counts_[kind_of(event.letter())]; }
  bool any() const;
  /// Returns "3 instants, 1 counter value".
  std::string text() const;

 private:
  static std::size_t kind_of(char phase);

  std::array<std::uint64_t, 6> counts_{};  // by kWords
};

}  // namespace profshim::analysis_detail
