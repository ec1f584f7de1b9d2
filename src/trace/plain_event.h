// PlainEvent: the trace reader's fast path for plain events. The parser of src/json gives equal results; it reads
// events with escapes, non-ASCII, exponents, objects in arguments or repeated keys.
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
  /// Reads the event whose '{' is at `at`. Returns its last '}'; null if it is not plain or not all in memory.
  const char* read(const char* at);
  /// Reads the next event, after one that ends at `last`. Sets `begin` to its '{'.
  const char* read_next(const char* last, const char*& begin);
  /// Valid after a successful read; views point into the bytes and this object.
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
  std::vector<std::string_view> keys_;                                                    // keys of open objects
  std::string lists_;                                                                     // lists' texts, no blanks
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::size_t>>> list_places_;  // argument, place in lists_
};

}  // namespace profshim::trace_detail
