#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/timeline.h"
#include "event_kinds.h"
#include "profshim/trace/reader.h"
#include "read_event.h"

namespace profshim::analysis_detail {

class TimelineBuilder {
 public:
  /// `first_pid`: pid of the rank's device 0 in a merged trace.
  TimelineBuilder(const std::string& path, const TimelineOptions& options, std::int64_t first_pid = 0);

  bool has_events() const { return !timeline_.slices.empty(); }
  void add(const ReadEvent& event);
  /// Call this after the last event: until 2025-03 Kineto wrote the base time after the events. Throws
  /// std::runtime_error if the trace is unusable.
  Timeline finish(const ReadResult& result, TraceMetadata metadata);

 private:
  struct PairKey {
    std::int64_t id, pid;
    TextId category, pid_text;
    bool operator==(const PairKey&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& key) const;
  };

  void warn(const std::string& sentence);
  void add_slice(const ReadEvent& event);
  void add_begin(const ReadEvent& event);
  void add_end(const ReadEvent& event);
  void add_memory_record(const ReadEvent& event);
  void add_step(const ReadEvent& event, const Slice& slice);
  void add_counted_phase(const ReadEvent& event, const Slice& slice);
  Slice make_slice(const ReadEvent& event);
  PairKey pair_key(const ReadEvent& event, std::uint32_t track);
  Kind find_kind(const ReadEvent& event);
  std::uint32_t find_track(const ReadEvent& event);
  void drop_unpaired();
  void warn_of_unknown();
  void take_metadata(TraceMetadata metadata);
  Dialect dialect() const;
  void add_base_time();

  TimelineOptions options_;
  std::int64_t first_pid_;
  Timeline timeline_;
  TrackTable tracks_;
  std::unordered_map<PairKey, std::vector<std::uint32_t>, PairHash> open_;  // slices without an end so far
  Uncategorized uncategorized_;
  std::uint64_t unpaired_ = 0, impossible_ = 0;
  EventKinds kinds_;
  std::unordered_map<TextId, std::uint64_t> unknown_;  // slices of categories that no Kind stands for
  bool has_words_of_2021_ = false, is_bare_list_ = false;
  std::string last_category_;
  Kind last_kind_ = Kind::kOther;
};

}  // namespace profshim::analysis_detail
