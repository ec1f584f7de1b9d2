// Reads any Kineto trace, plain or gzip, as a stream with callbacks. Memory: one event. Tool and writer thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "profshim/json.h"

namespace profshim {

/// Views are valid during the callback only.
struct ReadEvent {
  std::string_view phase, category, name;
  // pid and tid: a number or a text ("Spans"), as written.
  bool pid_is_number = false, tid_is_number = false, has_pid = false, has_tid = false;
  std::int64_t pid = 0, tid = 0;
  std::string_view pid_text, tid_text;
  bool has_name = false, has_ts = false, has_duration = false, has_id = false;
  double ts_us = 0, duration_us = 0;
  std::int64_t ts_ns = 0, duration_ns = 0;  // exact for three decimals
  bool finer_than_ns = false;               // ts or dur is rounded in *_ns
  std::int64_t id = 0;                      // text ids are hashed, except hexadecimal ones of "id2"
  std::string_view scope, binding_point;
  using ReadArg = JsonValue;
  std::span<const ReadArg> args;
  std::uint64_t offset = 0;  // byte position, uncompressed

  /// True if "ph" is this letter (schema::phase).
  bool is(char letter) const { return phase.size() == 1 && phase[0] == letter; }
  /// 0 if "ph" is not one letter.
  char letter() const { return phase.size() == 1 ? phase[0] : '\0'; }
};
struct TraceVisitor {
  /// Gets top-level members other than traceEvents, as compact JSON. `before_events`: stands before traceEvents.
  std::function<void(std::string_view key, std::string_view json, bool before_events)> metadata;
  std::function<bool(const ReadEvent&)> event;  // false = stop
  /// Gets every byte of the uncompressed file in order, before the events in it. For text searches.
  std::function<void(std::string_view piece)> bytes;
};
struct ReadResult {
  bool ok = false;
  std::string error;  // one line with byte position
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // uncompressed
  bool truncated = false;
  bool bare_list = false;  // list of events without an object around: PyTorch without Kineto
  /// Objects with a repeated key; readers differ about these.
  std::uint64_t repeated_keys = 0;
  std::uint64_t repeated_key_at = 0;  // byte position of the first
  /// Returns why the trace is of no use; "" if there are events, even before an early end.
  std::string useless() const;
};
ReadResult read_trace(const std::string& path, const TraceVisitor& visitor);
/// From memory: for tests and fuzzers.
ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor);

}  // namespace profshim
