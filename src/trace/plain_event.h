// The quick way to read an event: in one pass over bytes that lie in memory, for the kind of event that nearly all are.
// What it does not take, RapidJSON reads: texts with escapes or beyond ASCII, numbers with an exponent, objects in
// arguments, keys that stand twice, whatever is not JSON. Both give the same ReadEvent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/trace.h"

namespace profshim::trace_detail {

/// Readable bytes that must lie behind those that are read, beginning with a zero.
inline constexpr std::size_t kPlainMargin = 64;

class PlainEvent {
 public:
  /// The event that begins at `at` with a '{'. The position of its last '}'; null where it is not a plain one or is not
  /// there as a whole.
  const char* read(const char* at);
  /// Likewise the one behind the comma that follows the event whose last '}' stands at `last`; `begin` is then its '{'.
  const char* read_next(const char* last, const char*& begin);
  /// Of the last read() that took one; views into the bytes and into this object.
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
  std::vector<std::string_view> keys_;  // of the objects that are open
  std::string lists_;                   // without blanks
  std::vector<std::pair<std::size_t, std::pair<std::size_t, std::size_t>>> list_places_;  // argument; place in lists_
};

}  // namespace profshim::trace_detail
