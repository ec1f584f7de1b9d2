// The fast path of the reader: one pass over bytes in memory, for nearly all events. The parser of
// src/json reads the others: texts
// with escapes or non-ASCII bytes, numbers with an exponent, objects in arguments, repeated keys, and invalid JSON.
// Both paths give the same ReadEvent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/json/stream_parser.h"
#include "profshim/trace/reader.h"

namespace profshim::trace_detail {

/// Number of readable bytes that must follow the text; the first of them is a zero.
inline constexpr std::size_t kPlainMargin = JsonStream::kMargin;

class PlainEvent {
 public:
  /// Reads the event whose '{' is at `at`. Returns the position of its last '}'; null if the event is not plain or ends
  /// outside the bytes in memory.
  const char* read(const char* at);
  /// Reads the event behind the comma that follows `last`, the last '}' of the event before it. Sets `begin` to its
  /// '{'.
  const char* read_next(const char* last, const char*& begin);
  /// Returns the event of the last successful read(); its views point into the bytes and into this object.
  const ReadEvent& event() const { return event_; }
  ReadEvent& event() { return event_; }

 private:
  const char* field(const char* at);
  const char* scoped_id(const char* at);
  const char* arguments(const char* at);
  const char* argument(const char* at, ReadEvent::ReadArg& arg);
  const char* list(const char* at, int depth);
  bool is_new(std::string_view key, std::size_t first);

  ReadEvent event_;
  std::vector<ReadEvent::ReadArg> args_;
  std::vector<std::string_view> keys_;                                                    // of the open objects
  std::string lists_;                                                                     // without blanks
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::size_t>>> list_places_;  // argument; place in lists_
};

}  // namespace profshim::trace_detail
