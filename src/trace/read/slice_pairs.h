// Joins B and E events of Chrome's format to slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profshim/trace/reader.h"

namespace profshim::trace_detail {

/// An E event ends the innermost open B event of its thread that has its name and category, if it has them: Perfetto
/// pairs them so, too. Expects the events of a thread in the order of time.
class SlicePairs {
 public:
  /// Returns false if too many begins are open.
  bool begin(const ReadEvent& event);
  /// Returns the slice, valid until the next call; null if no begin fits.
  const ReadEvent* end(const ReadEvent& event);
  std::uint64_t open() const { return open_; }

 private:
  /// A copy of an event. Never moves: its views point into it.
  struct Kept {
    ReadEvent event;
    std::string texts;
    std::vector<ReadEvent::ReadArg> args;
  };

  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Kept>>> threads_;
  std::unique_ptr<Kept> ended_;
  std::uint64_t open_ = 0;
};

}  // namespace profshim::trace_detail
