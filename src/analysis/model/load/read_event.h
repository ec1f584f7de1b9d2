// Meaning of an event of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

bool has_possible_time(const ReadEvent& event);

/// Returns the N of "ProfilerStep#N".
std::optional<std::int64_t> step_number(std::string_view name);

bool is_memory_event(const ReadEvent& event);
/// Leaves out the track.
MemoryRecord memory_record(const ReadEvent& event);

/// Numbers the tracks of a trace.
class TrackTable {
 public:
  /// `first_pid`: counts as 0.
  std::uint32_t find(const ReadEvent& event, std::int64_t first_pid, Texts& texts);
  const Track& operator[](std::uint32_t number) const { return tracks_[number]; }
  std::vector<Track> take() { return std::move(tracks_); }

 private:
  struct Hash {
    std::size_t operator()(const Track& track) const;
  };

  std::vector<Track> tracks_;
  std::unordered_map<Track, std::uint32_t, Hash> numbers_;
  std::uint32_t last_ = 0;
};

/// Hash of two numbers and two texts.
std::size_t hash_of(std::int64_t a, std::int64_t b, TextId c, TextId d);

}  // namespace profshim::analysis_detail
