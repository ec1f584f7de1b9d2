// The trace reader's fast path. Events with escapes, non-ASCII, exponents, objects in arguments or repeated keys are
// left to the parser of src/json, which gives equal results.
#pragma once

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
  const char* field(const char* at);
  void text_field(std::string_view key, std::string_view text);
  void time(std::string_view key, std::string_view text);
  const char* scoped_id(const char* at);
  const char* arguments(const char* at);
  const char* argument(const char* at, ReadEvent::ReadArg& arg);
  const char* list(const char* at, int depth);
  bool is_new(std::string_view key, std::size_t first);

  ReadEvent event_;
  std::vector<ReadEvent::ReadArg> args_;
  std::vector<std::string_view> keys_;
  std::string lists_;
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::size_t>>> list_places_;  // argument, place in lists_
};

}  // namespace profshim::trace_detail
