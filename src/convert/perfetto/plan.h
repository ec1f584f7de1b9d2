// What has to be known of a whole trace before the first packet of it can be written: which tracks there are and what
// they are called, which slices of one track do not nest (they get a track beside it, so that no time is invented or
// lost), in which order packets of one moment have to stand, and which slices each arrow joins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/trace.h"

namespace profshim::convert_detail {

/// A process or a thread as written: a number, or a text.
struct Id {
  bool is_number = true;
  std::int64_t number = 0;
  std::string text;
  auto operator<=>(const Id&) const = default;
  std::string name() const { return is_number ? std::to_string(number) : text; }
};

enum class Scope : std::uint8_t {
  kThread,   // of a process
  kAsync,    // slices of one name that overlap as they like
  kCounter,  // numbers
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
  Id thread;         // kThread
  std::string name;  // a thread's own, or what its events are called
  std::optional<std::int64_t> sort_index;
  std::vector<std::uint64_t> lanes;  // uuids; the first is the track, the others stand beside it
};

/// One end of an arrow, at a slice.
struct ArrowEnd {
  std::uint32_t slice = 0;
  std::uint64_t arrow = 0;
  bool arrives = false;
  bool at_end = false;  // with the packet that ends the slice: the arrow starts after it began
};

/// Pairs b with e: in both passes in the same way.
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
  /// All events have been seen.
  void finish();

  // ---- while it is read again
  /// True for what can be shown at all: a time, and a place in it.
  static bool is_shown(const ReadEvent& event);
  std::int64_t base_ns() const { return base_ns_; }
  /// Nanoseconds since the epoch where the trace says since when it counts, else as they stand.
  std::int64_t time_of(const ReadEvent& event) const { return base_ns_ + event.ts_ns; }
  std::uint32_t process_of(const ReadEvent& event);
  std::uint32_t track_of(const ReadEvent& event, Scope scope, std::string_view series = {});

  struct Placed {
    std::uint64_t uuid = 0;
    std::int64_t end_ns = 0;         // kNever: it has no end in the trace
    std::uint32_t written_with = 0;  // the slice with which its packets are written: itself, or a later one
    std::uint32_t order = 0;         // among those
  };
  Placed placed(std::uint32_t slice) const;
  /// Of one slice.
  std::vector<ArrowEnd>::const_iterator arrows_of(std::uint32_t slice) const;

  static constexpr std::int64_t kNever = INT64_MAX;

  std::vector<PlannedProcess> processes;
  std::vector<PlannedTrack> tracks;
  std::vector<ArrowEnd> arrows;                              // by slice
  std::vector<std::pair<std::string, std::string>> members;  // of the file, beside the events
  /// `beside`: slices that have a track beside their own; `loose_arrows`: ends of arrows that have no other end.
  std::uint64_t events = 0, left_out = 0, negative = 0, rounded = 0, beside = 0, loose_arrows = 0;
  std::int64_t first_ns = INT64_MAX;
  bool has_wall_clock = false;

 private:
  struct Slice {
    std::int64_t begin_ns, end_ns;
    std::uint32_t track, number;
  };
  struct Point {  // an arrow's end
    std::uint64_t key;
    std::int64_t at_ns;
    std::uint32_t track, number;
    std::uint32_t slice;  // that it is bound to, once known
    char phase;
    bool to_next;  // binds to the next slice rather than the one around it
  };
  struct Lane {
    std::vector<std::uint32_t> open;  // indices into slices_, outermost first
    std::int64_t ended_ns = INT64_MIN;
    std::uint32_t ended_with = 0;  // latest to be written of those that ended then
    std::int64_t begun_ns = INT64_MIN;
    std::uint32_t begun_with = 0;
  };

  Id id_of(bool is_number, std::int64_t number, std::string_view text) const;
  void name_things(const ReadEvent& event);
  void add_slice(std::uint32_t track, std::int64_t begin_ns, std::int64_t end_ns);
  void place_track(std::size_t first, std::size_t last, std::size_t first_point, std::size_t last_point);
  void place_slice(std::uint32_t at, PlannedTrack& track, std::vector<Lane>& lanes);
  static bool fits(const Slice& slice, Lane& lane, Scope scope, const std::vector<Slice>& slices);
  std::uint32_t slice_around(const Point& point, const std::vector<Lane>& lanes) const;
  void join_arrows();
  void add_arrow(std::uint32_t from, std::uint32_t to);
  bool is_written_before(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t whose_end_closes(std::uint32_t slice) const;

  std::int64_t base_ns_ = 0;
  std::uint64_t next_uuid_ = 1, next_arrow_ = 1;
  std::map<Id, std::uint32_t> process_numbers_;
  std::unordered_map<std::string, std::uint32_t> track_numbers_;
  std::string track_key_, last_key_;
  std::uint32_t last_track_ = 0;
  std::vector<Slice> slices_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> lane_of_, written_with_;  // by number of the slice
  std::vector<std::uint32_t> order_;                   // likewise: where it stands in slices_
  /// Slices of one lane that lie in each other and end at once, outermost first; and which those are.
  std::vector<std::vector<std::uint32_t>> ending_together_;
  std::unordered_map<std::uint32_t, std::uint32_t> ends_with_others_;
  AsyncPairs pairs_;
};

}  // namespace profshim::convert_detail
