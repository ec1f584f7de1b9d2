// Reads any Kineto trace, plain or gzip, with a callback per event. Holds one event in memory.
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
  // In the file, a pid or tid is a number or a text ("Spans").
  bool pid_is_number = false, tid_is_number = false, has_pid = false, has_tid = false;
  std::int64_t pid = 0, tid = 0;
  std::string_view pid_text, tid_text;
  bool has_name = false, has_ts = false, has_duration = false, has_id = false;
  double ts_us = 0, duration_us = 0;
  std::int64_t ts_ns = 0, duration_ns = 0;  // exact if the file has up to three decimals of us
  bool finer_than_ns = false;               // ts_ns or duration_ns is rounded
  std::int64_t id = 0;                      // hash of a text id; the value of a hexadecimal one in "id2"
  std::string_view scope, binding_point;
  using ReadArg = JsonValue;
  std::span<const ReadArg> args;
  std::uint64_t offset = 0;  // byte position in the uncompressed file

  bool is(char letter) const { return phase.size() == 1 && phase[0] == letter; }
  char letter() const { return phase.size() == 1 ? phase[0] : '\0'; }
};
struct TraceVisitor {
  /// Receives each top-level member except traceEvents, as compact JSON. `before_events`: it stands before traceEvents.
  std::function<void(std::string_view key, std::string_view json, bool before_events)> metadata;
  std::function<bool(const ReadEvent&)> event;  // returns false to stop
  /// The uncompressed file in pieces, each before the events in it.
  std::function<void(std::string_view piece)> bytes;
};
struct ReadResult {
  bool ok = false;
  std::string error;  // one line, with the byte position
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // uncompressed
  bool truncated = false;
  bool bare_list = false;  // the file is a list of events: PyTorch without Kineto writes it
  /// Objects with a repeated key; JSON readers disagree on its value.
  std::uint64_t repeated_keys = 0;
  std::uint64_t repeated_key_at = 0;  // byte position of the first
  /// Returns why the trace cannot be used; "" if it has events, even if it ends early.
  std::string useless() const;
};
ReadResult read_trace(const std::string& path, const TraceVisitor& visitor);
/// For tests and fuzzers.
ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor);

}  // namespace profshim
