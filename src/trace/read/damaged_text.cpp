#include "damaged_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "profshim/trace/schema.h"

namespace profshim::trace_detail {
namespace {

// An event begins with one of these in all known writers. In "args" they stand behind a colon.
constexpr std::string_view kFirstKeys[] = {
    schema::event::kPhase, schema::event::kCategory,  schema::event::kName,     schema::event::kPid,
    schema::event::kTid,   schema::event::kTimestamp, schema::event::kDuration, schema::event::kArgs,
    schema::event::kId,    schema::event::kScopedId,  schema::event::kScope,    schema::event::kBindingPoint};
constexpr std::size_t kLongestKey = 16;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

char take(JsonStream& stream) {
  stream.token_done();
  return stream.take();
}

void skip_blanks(JsonStream& stream) {
  while (is_blank(stream.peek())) take(stream);
}

/// Takes a short text in quotes. Returns it without them; "" if there is none.
std::string short_text(JsonStream& stream) {
  if (stream.peek() != '"') return {};
  take(stream);
  std::string text;
  while (text.size() < kLongestKey && stream.peek() != '"' && stream.peek() != '\0') text += take(stream);
  if (stream.peek() != '"') return {};
  take(stream);
  return text;
}

}  // namespace

std::string skip_to_event(JsonStream& stream, bool behind_list) {
  char before = '\0';  // the last byte that is not blank
  while (!stream.at_end()) {
    const char c = take(stream);
    if (c == '{' && before != ':' && before != '[') {
      skip_blanks(stream);
      const std::string key = short_text(stream);
      skip_blanks(stream);
      const bool known = behind_list
                             ? key == schema::event::kPhase
                             : std::find(std::begin(kFirstKeys), std::end(kFirstKeys), key) != std::end(kFirstKeys);
      if (known && stream.peek() == ':') return "{\"" + key + '"';
    }
    if (!is_blank(c)) before = c;
  }
  return {};
}

bool skip_to_list(JsonStream& stream) {
  const std::string wanted = '"' + std::string(schema::top::kTraceEvents) + '"';
  std::size_t matched = 0;
  while (!stream.at_end()) {
    const char c = take(stream);
    matched = c == wanted[matched] ? matched + 1 : c == '"' ? 1 : 0;
    if (matched < wanted.size()) continue;
    matched = 0;
    skip_blanks(stream);
    if (stream.peek() != ':') continue;
    take(stream);
    skip_blanks(stream);
    if (stream.peek() != '[') continue;
    take(stream);
    return true;
  }
  return false;
}

void skip_comma(JsonStream& stream) {
  skip_blanks(stream);
  if (stream.peek() == ',') take(stream);
}

}  // namespace profshim::trace_detail
