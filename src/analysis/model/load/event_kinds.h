#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

/// Counts events that have no duration, for traces that hold nothing else.
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

/// Slices without a category: the name of their process, which may come after them, tells their kind.
class Uncategorized {
 public:
  /// Takes a metadata event: notes the name of a process.
  void note_process(const ReadEvent& event);
  /// `index`: of the slice in the timeline.
  void add(std::size_t index) { slices_.push_back(static_cast<std::uint32_t>(index)); }
  /// Sets the kinds. Puts Ascend's collectives, which have a process of their own, on their device. Returns the number
  /// of slices whose kind stays unknown. Call this once the timeline has its tracks.
  std::uint64_t find_kinds(Timeline& timeline) const;

 private:
  std::map<std::int64_t, std::string> processes_;
  std::vector<std::uint32_t> slices_;
};

}  // namespace profshim::analysis_detail
