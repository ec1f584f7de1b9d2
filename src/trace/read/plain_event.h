// The trace reader's fast path. Events that are not strict JSON, and those with exponents or repeated keys, are left to
// the parser of src/json, which gives equal results.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/json/stream_parser.h"
#include "profshim/trace/reader.h"

namespace profshim::trace_detail {

/// Bytes that must be readable behind the text; the first must be 0.
inline constexpr std::size_t kPlainMargin = JsonStream::kMargin;

class PlainEvent {
 public:
  /// Reads the event whose '{' is at `at`. Returns the event's last '}'; null if the event is not plain or not all in
  /// memory.
  const char* read(const char* at);
  /// `last`: the '}' of an event. Reads the next event, and sets `begin` to its '{'.
  const char* read_next(const char* last, const char*& begin);
  /// Valid after a successful read; views point into the bytes and this object.
  const ReadEvent& event() const { return event_; }
  ReadEvent& event() { return event_; }

 private:
  const char* text(const char* at, std::string_view& value);
  const char* decoded_text(const char* at, std::string_view& value);
  const char* field(const char* at);
  void text_field(std::string_view key, std::string_view text);
  void time(std::string_view key, std::string_view text);
  const char* scoped_id(const char* at);
  const char* arguments(const char* at);
  const char* argument(const char* at, ReadEvent::ReadArg& arg);
  const char* nested(const char* at, int depth);
  const char* nested_text(const char* at, std::string_view& value);
  const char* nested_key(const char* at, std::size_t first);
  const char* members(const char* at, int depth);
  bool is_new(std::string_view key, std::size_t first);

  ReadEvent event_;
  std::vector<ReadEvent::ReadArg> args_;
  std::vector<std::string_view> keys_;
  std::deque<std::string> decoded_texts_;  // a deque: views point into its texts
  std::size_t decoded_ = 0;                // texts in use
  std::string nested_;                     // lists and objects, as compact JSON
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::size_t>>>
      nested_places_;  // argument, place in nested_
};

}  // namespace profshim::trace_detail
