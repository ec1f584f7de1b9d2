#include "track_table.h"

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {

std::size_t hash_of(std::int64_t a, std::int64_t b, TextId c, TextId d) {
  constexpr std::size_t kFactor = 0x9E3779B97F4A7C15u;
  const std::size_t numbers = static_cast<std::size_t>(a) * kFactor + static_cast<std::size_t>(b);
  return (numbers * kFactor + c) * kFactor + d;
}

std::size_t TrackTable::Hash::operator()(const Track& track) const {
  return hash_of(track.pid, track.tid, track.pid_text, track.tid_text);
}

std::uint32_t TrackTable::find(const ReadEvent& event, std::int64_t first_pid, Texts& texts) {
  Track track{.pid = difference(event.pid, first_pid), .tid = event.tid};
  if (!event.pid_is_number) track = {0, track.tid, texts.add(event.pid_text), 0};
  if (!event.tid_is_number) track = {track.pid, 0, track.pid_text, texts.add(event.tid_text)};
  if (!tracks_.empty() && track == tracks_[last_]) return last_;
  const auto [at, is_new] = numbers_.emplace(track, static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) tracks_.push_back(track);
  return last_ = at->second;
}

}  // namespace profshim::analysis_detail
