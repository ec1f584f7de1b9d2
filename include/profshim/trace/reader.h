// Reads any Kineto trace, plain or gzip, with a callback per event. Holds one event in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/json.h"
#include "profshim/json/repairs.h"

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
  bool has_text_times = false;              // the file has ts or dur as text, as Ascend writes them
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
/// Events that read_trace() changes, joins or leaves out, so that all commands see the same.
struct EventRepairs {
  std::uint64_t pairs = 0;                     // B and E events, read as one slice each
  std::uint64_t lone_begins = 0;               // B events without an E: slices up to the end of the trace
  std::uint64_t cut = 0;                       // slices of B events that would outlast the slice around them
  std::uint64_t lost_begins = 0;               // B events without a time, or too many: left out
  std::uint64_t lone_ends = 0;                 // E events without an open B: left out
  std::uint64_t text_times = 0;                // events with ts or dur as text
  std::uint64_t no_objects = 0;                // elements of traceEvents that are no objects: left out
  std::uint64_t no_phase = 0;                  // events without a phase of one letter
  std::map<char, std::uint64_t> other_phases;  // phases that no command shows: samples and objects
};
struct ReadResult {
  bool ok = false;
  std::string error;  // one line, with the byte position
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // uncompressed
  bool truncated = false;
  std::uint64_t damaged = 0;  // places where an event could not be parsed: it, or also the next one, is left out
  bool bare_list = false;     // the file is a list of events: PyTorch without Kineto writes it
  bool is_unclosed = false;   // ... without its last bracket, as Chrome's format allows
  /// Objects with a repeated key; JSON readers disagree on its value.
  std::uint64_t repeated_keys = 0;
  std::uint64_t repeated_key_at = 0;  // byte position of the first
  JsonRepairs json;                   // what is not strict JSON
  std::uint64_t behind_gzip = 0;      // compressed bytes behind the gzip data: ignored
  EventRepairs repairs;
  /// Returns why the trace cannot be used; "" if it has events, even if it ends early or is damaged.
  std::string useless() const;
  /// True if events are missing: the file ends early or is damaged.
  bool is_partial() const { return truncated || damaged > 0; }
  /// Returns what is_partial() means, with the byte position.
  std::string why_partial() const;
  /// Returns sentences on text that is not strict JSON, one for each kind. Other JSON readers may refuse the file.
  std::vector<std::string> json_warnings() const;
  /// Returns json_warnings() and sentences on events that are left out or not shown.
  std::vector<std::string> warnings() const;
};
ReadResult read_trace(const std::string& path, const TraceVisitor& visitor);
/// For tests and fuzzers.
ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor);

}  // namespace profshim
