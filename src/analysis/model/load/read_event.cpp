#include "read_event.h"

#include <charconv>

#include "analysis/model/statistics.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

bool has_possible_time(const ReadEvent& event) { return event.has_ts && TraceMetadata::is_possible(event.ts_ns); }

std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view kStart = schema::name::kStepStart;
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_memory_event(const ReadEvent& event) {
  return event.name == schema::name::kMemory || event.name == schema::name::kOutOfMemory;
}

MemoryRecord memory_record(const ReadEvent& event) {
  MemoryRecord record{.at_ns = event.ts_ns, .failed = event.name == schema::name::kOutOfMemory};
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.key == schema::arg::kMemoryBytes) record.bytes = arg.integer;
    if (arg.key == schema::arg::kDeviceType) record.device_type = static_cast<std::int32_t>(arg.integer);
    if (arg.key == schema::arg::kDeviceId) record.device_index = static_cast<std::int32_t>(arg.integer);
    if (arg.key == schema::arg::kAddress) record.address = arg.integer;
    if (arg.key == schema::arg::kTotalAllocated) record.allocated = arg.integer;
    if (arg.key == schema::arg::kTotalReserved) record.reserved = arg.integer;
  }
  return record;
}

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
