#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim::convert_detail {

struct Id {
  bool is_number = true;
  std::int64_t number = 0;
  std::string text;
  auto operator<=>(const Id&) const = default;
  std::string name() const { return is_number ? std::to_string(number) : text; }
};

enum class Scope : std::uint8_t {
  kThread,
  kAsync,
  kCounter,
};

struct PlannedProcess {
  Id id;
  std::uint64_t uuid = 0;
  std::string name, labels;
  std::optional<std::int64_t> sort_index;
};
struct PlannedTrack {
  std::uint32_t process = 0;
  Scope scope = Scope::kThread;
  Id thread;
  std::string name;
  std::optional<std::int64_t> sort_index;
  std::vector<std::uint64_t> subtracks;  // uuids: the track, then its overflow tracks
};

struct ArrowEnd {
  std::uint32_t slice = 0;
  std::uint64_t arrow = 0;
  bool arrives = false;
  bool at_end = false;  // the end packet of the slice carries the arrow
};

class AsyncPairs {
 public:
  void begin(const ReadEvent& event, std::uint32_t slice);
  std::optional<std::uint32_t> end(const ReadEvent& event);

 private:
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
};

class Plan {
 public:
  void metadata(std::string_view key, std::string_view json);
  void event(const ReadEvent& event);
  void finish();

  /// False for metadata, and for events without a process, a valid time or (X only) a duration.
  static bool is_shown(const ReadEvent& event);
  std::int64_t base_ns() const { return metadata_.base_time_ns; }
  /// Nanoseconds of the output at trace time 0. Perfetto has no times below 0.
  std::int64_t start_ns() const { return base_ns() + shift_ns; }
  std::int64_t time_of(const ReadEvent& event) const { return start_ns() + event.ts_ns; }
  std::uint32_t process_of(const ReadEvent& event);
  std::uint32_t track_of(const ReadEvent& event, Scope scope, std::string_view series = {});

  struct Placed {
    std::uint64_t uuid = 0;
    std::int64_t end_ns = 0;
    std::uint32_t written_with = 0;  // slice with which the packets are written: itself or a later slice
    std::uint32_t order = 0;
  };
  Placed placed(std::uint32_t slice) const;
  std::vector<ArrowEnd>::const_iterator arrows_of(std::uint32_t slice) const;

  static constexpr std::int64_t kNever = INT64_MAX;

  std::vector<PlannedProcess> processes;
  std::vector<PlannedTrack> tracks;
  std::vector<ArrowEnd> arrows;  // sorted by slice
  std::vector<std::pair<std::string, std::string>> members;
  std::uint64_t events = 0, left_out = 0, negative = 0, rounded = 0;
  std::uint64_t on_overflow_tracks = 0;
  std::uint64_t unmatched_arrow_ends = 0;
  std::int64_t first_ns = INT64_MAX;
  std::int64_t shift_ns = 0;  // added to all times, since the first would be below 0
  bool has_wall_clock = false;

 private:
  struct Slice {
    std::int64_t begin_ns, end_ns;
    std::uint32_t track, number;
  };
  struct Point {  // one end of an arrow
    std::uint64_t key;
    std::int64_t at_ns;
    std::uint32_t track, number;
    std::uint32_t slice;
    char phase;
    bool to_next;  // binds to the next slice, not to the enclosing slice
  };
  struct Subtrack {
    std::vector<std::uint32_t> open;  // indices into slices_, outermost first
    std::int64_t ended_ns = INT64_MIN;
    std::uint32_t ended_with = 0;  // latest written_with of the slices that ended at ended_ns
    std::int64_t begun_ns = INT64_MIN;
    std::uint32_t begun_with = 0;
  };

  Id id_of(bool is_number, std::int64_t number, std::string_view text) const;
  void name_things(const ReadEvent& event);
  void add_slice(std::uint32_t track, std::int64_t begin_ns, std::int64_t end_ns);
  void place_track(std::size_t first, std::size_t last, std::size_t first_point, std::size_t last_point);
  void place_slice(std::uint32_t at, PlannedTrack& track, std::vector<Subtrack>& subtracks);
  static bool fits(const Slice& slice, Subtrack& subtrack, Scope scope, const std::vector<Slice>& slices);
  std::uint32_t slice_around(const Point& point, const std::vector<Subtrack>& subtracks) const;
  void join_arrows();
  void add_arrow(std::uint32_t from, std::uint32_t to);
  bool is_written_before(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t slice_with_end_packet_of(std::uint32_t slice) const;

  TraceMetadata metadata_;
  std::uint64_t next_uuid_ = 1, next_arrow_ = 1;
  std::map<Id, std::uint32_t> process_numbers_;
  std::unordered_map<std::string, std::uint32_t> track_numbers_;
  std::string track_key_, last_key_;
  std::uint32_t last_track_ = 0;
  std::vector<Slice> slices_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> subtrack_of_, written_with_, order_;
  /// Groups of nested slices that end together, outermost first.
  std::vector<std::vector<std::uint32_t>> ending_together_;
  std::unordered_map<std::uint32_t, std::uint32_t> ends_with_others_;  // slice -> index of its group
  AsyncPairs pairs_;
};

}  // namespace profshim::convert_detail
