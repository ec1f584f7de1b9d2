#include "plain_event.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "escaped_text.h"
#include "numbers.h"
#include "profshim/json.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {
namespace {

using Kind = ReadEvent::ReadArg::Kind;

constexpr std::size_t kMostKeys = 48;  // per object; few, since each is compared with all
constexpr int kMostDepth = 32;

const char* skip_blanks(const char* at) {
  while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') ++at;
  return at;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the closing quote; null unless the text is plain ASCII without escapes.
const char* end_of_text(const char* at) {
  const char* const end = end_of_plain_text(at);
  return *end == '"' ? end : nullptr;
}

/// Returns null for exponents and very long numbers too: src/json checks their range.
const char* end_of_number(const char* at) {
  constexpr std::ptrdiff_t kLongest = 40;
  const char* const begin = at;
  if (*at == '-') ++at;
  if (*at == '0') {
    ++at;
  } else {
    if (!is_digit(*at)) return nullptr;
    while (is_digit(*at)) ++at;
  }
  if (*at == '.') {
    if (!is_digit(*++at)) return nullptr;
    while (is_digit(*at)) ++at;
  }
  return *at == 'e' || *at == 'E' || at - begin > kLongest ? nullptr : at;
}

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

const char* end_of_word(const char* at) {
  for (const std::string_view word : {std::string_view("true"), std::string_view("false"), std::string_view("null")}) {
    if (std::equal(word.begin(), word.end(), at)) return at + word.size();
  }
  return nullptr;
}

/// Reads microseconds with up to three decimals; returns false for other notations.
bool plain_ns(std::string_view text, std::int64_t& ns) {
  constexpr std::size_t kExact = 16;  // 16 digits and three decimals fit into 64 unsigned bits
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto append = [&value](char digit) { value = value * 10 + static_cast<std::uint64_t>(digit - '0'); };
  std::size_t i = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    if (i == kExact) return false;
    append(text[i]);
  }
  std::size_t decimals = 0;
  if (i < text.size()) {
    if (text[i] != '.' || text.size() - i - 1 > 3) return false;
    for (++i; i < text.size(); ++i, ++decimals) {
      if (!is_digit(text[i])) return false;
      append(text[i]);
    }
  }
  for (; decimals < 3; ++decimals) value *= 10;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  ns = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

void set_time(std::string_view text, std::int64_t& ns, double& us, bool& finer) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (plain_ns(text, ns) && ns > -kExact && ns < kExact) {
    us = static_cast<double>(ns) / 1000;  // ns is exact in a double, so us rounds as to_double(text) would
    return;
  }
  ns = to_ns(text, finer);
  us = to_double(text);
}

}  // namespace

/// `at`: the first quote. Returns the byte behind the last one.
inline const char* PlainEvent::text(const char* at, std::string_view& value) {
  const char* const end = end_of_plain_text(at + 1);
  if (*end != '"') return decoded_text(at + 1, value);
  value = between(at + 1, end);
  return end + 1;
}

const char* PlainEvent::decoded_text(const char* at, std::string_view& value) {
  if (decoded_ == decoded_texts_.size()) decoded_texts_.emplace_back();
  std::string& decoded = decoded_texts_[decoded_++];
  const char* const end = decode_text(at, decoded);
  value = decoded;
  return end == nullptr ? nullptr : end + 1;
}

bool PlainEvent::is_new(std::string_view key, std::size_t first) {
  for (std::size_t i = first; i < keys_.size(); ++i) {
    if (keys_[i] == key) return false;
  }
  keys_.push_back(key);
  return keys_.size() - first <= kMostKeys;
}

const char* PlainEvent::read(const char* at) {
  event_ = {};
  args_.clear();
  keys_.clear();
  nested_.clear();
  nested_places_.clear();
  decoded_ = 0;
  for (;;) {
    at = field(skip_blanks(at + 1));
    if (at == nullptr) return nullptr;
    at = skip_blanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
  }
  for (const auto& [arg, place] : nested_places_)
    args_[arg].text = std::string_view(nested_).substr(place.first, place.second);
  event_.args = args_;
  return at;
}

const char* PlainEvent::read_next(const char* last, const char*& begin) {
  const char* const comma = skip_blanks(last + 1);
  if (*comma != ',') return nullptr;
  begin = skip_blanks(comma + 1);
  return *begin == '{' ? read(begin) : nullptr;
}

const char* PlainEvent::field(const char* at) {
  if (*at != '"') return nullptr;
  std::string_view key;
  at = text(at, key);
  if (at == nullptr || !is_new(key, 0)) return nullptr;
  at = skip_blanks(at);
  if (*at != ':') return nullptr;
  at = skip_blanks(at + 1);
  if (key == schema::event::kArgs) return *at == '{' ? arguments(at) : nullptr;
  if (key == schema::event::kScopedId) return *at == '{' ? scoped_id(at) : nullptr;
  if (*at == '"') {
    std::string_view value;
    at = text(at, value);
    if (at != nullptr) text_field(key, value);
    return at;
  }
  if (*at == '[' || *at == '{') return nested(at, 0);  // of no meaning
  const char* const end = end_of_number(at);
  if (end == nullptr) return end_of_word(at);
  const std::string_view number = between(at, end);
  if (key == schema::event::kTimestamp || key == schema::event::kDuration) {
    time(key, number);
  } else if (key == schema::event::kPid) {
    event_.has_pid = event_.pid_is_number = true;
    event_.pid = id_number(number);
  } else if (key == schema::event::kTid) {
    event_.has_tid = event_.tid_is_number = true;
    event_.tid = id_number(number);
  } else if (key == schema::event::kId) {
    event_.has_id = true;
    event_.id = id_number(number);
  }
  return end;
}

void PlainEvent::text_field(std::string_view key, std::string_view text) {
  if (key == schema::event::kPhase) {
    event_.phase = text;
  } else if (key == schema::event::kCategory) {
    event_.category = text;
  } else if (key == schema::event::kName) {
    event_.name = text;
    event_.has_name = true;
  } else if (key == schema::event::kPid) {
    event_.has_pid = true;
    event_.pid_is_number = is_whole_number(text, event_.pid);
    if (!event_.pid_is_number) event_.pid_text = text;
  } else if (key == schema::event::kTid) {
    event_.has_tid = true;
    event_.tid_is_number = is_whole_number(text, event_.tid);
    if (!event_.tid_is_number) event_.tid_text = text;
  } else if (key == schema::event::kTimestamp || key == schema::event::kDuration) {
    if (is_number_text(text)) {
      event_.has_text_times = true;
      time(key, text);
    }
  } else if (key == schema::event::kId) {
    event_.has_id = true;
    event_.id = id_of_text(text, false);
  } else if (key == schema::event::kScope) {
    event_.scope = text;
  } else if (key == schema::event::kBindingPoint) {
    event_.binding_point = text;
  }
}

void PlainEvent::time(std::string_view key, std::string_view text) {
  if (key == schema::event::kTimestamp) {
    event_.has_ts = true;
    set_time(text, event_.ts_ns, event_.ts_us, event_.finer_than_ns);
  } else {
    event_.has_duration = true;
    set_time(text, event_.duration_ns, event_.duration_us, event_.finer_than_ns);
  }
}

const char* PlainEvent::scoped_id(const char* at) {
  at = skip_blanks(at + 1);
  if (*at != '"') return nullptr;
  for (const std::string_view key : {schema::event::kLocal, schema::event::kGlobal}) {
    if (!std::equal(key.begin(), key.end(), at + 1) || at[1 + key.size()] != '"') continue;
    at = skip_blanks(at + key.size() + 2);
    if (*at != ':') return nullptr;
    at = skip_blanks(at + 1);
    const char* const end = *at == '"' ? end_of_text(at + 1) : nullptr;
    if (end == nullptr) return nullptr;
    event_.has_id = true;
    event_.id = id_of_text(between(at + 1, end), true);
    at = skip_blanks(end + 1);
    return *at == '}' ? at + 1 : nullptr;
  }
  return nullptr;
}

const char* PlainEvent::arguments(const char* at) {
  const std::size_t first = keys_.size();
  at = skip_blanks(at + 1);
  if (*at == '}') return at + 1;
  for (;;) {
    if (*at != '"') return nullptr;
    ReadEvent::ReadArg arg;
    at = text(at, arg.key);
    if (at == nullptr || !is_new(arg.key, first)) return nullptr;
    at = skip_blanks(at);
    if (*at != ':') return nullptr;
    at = argument(skip_blanks(at + 1), arg);
    if (at == nullptr) return nullptr;
    args_.push_back(arg);
    at = skip_blanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
    at = skip_blanks(at + 1);
  }
  keys_.resize(first);
  return at + 1;
}

const char* PlainEvent::argument(const char* at, ReadEvent::ReadArg& arg) {
  if (*at == '"') {
    arg.kind = Kind::kString;
    return text(at, arg.text);
  }
  if (*at == '[' || *at == '{') {
    arg.kind = Kind::kJson;
    const std::size_t begin = nested_.size();
    const char* const end = nested(at, 0);
    nested_places_.push_back({args_.size(), {begin, nested_.size() - begin}});
    return end;
  }
  if (const char* const end = end_of_number(at)) {
    arg.text = between(at, end);
    arg.kind = to_integer(arg.text, arg.integer) ? Kind::kInt : Kind::kDouble;
    arg.number = arg.kind == Kind::kInt ? static_cast<double>(arg.integer) : to_double(arg.text);
    if (arg.kind == Kind::kDouble) arg.integer = 0;
    return end;
  }
  const char* const end = end_of_word(at);
  if (end == nullptr) return nullptr;
  arg.text = between(at, end);
  arg.kind = *at == 'n' ? Kind::kNull : Kind::kBool;
  arg.integer = *at == 't';
  return end;
}

/// Appends the value to nested_. Returns the byte behind it.
const char* PlainEvent::nested(const char* at, int depth) {
  if (*at == '[' || *at == '{') return depth < kMostDepth ? members(at, depth) : nullptr;
  if (*at == '"') {
    std::string_view value;
    return nested_text(at, value);
  }
  const char* end = end_of_number(at);
  if (end == nullptr) end = end_of_word(at);
  if (end != nullptr) nested_.append(at, end);
  return end;
}

const char* PlainEvent::nested_text(const char* at, std::string_view& value) {
  const char* const end = text(at, value);
  if (end == nullptr) return nullptr;
  const bool is_decoded = value.data() != at + 1;
  is_decoded ? nested_ += json_string(value) : nested_.append(at, end);
  return end;
}

const char* PlainEvent::nested_key(const char* at, std::size_t first) {
  if (*at != '"') return nullptr;
  std::string_view key;
  at = nested_text(at, key);
  if (at == nullptr || !is_new(key, first)) return nullptr;
  at = skip_blanks(at);
  if (*at != ':') return nullptr;
  nested_ += ':';
  return skip_blanks(at + 1);
}

/// `at`: the bracket that opens a list or an object.
const char* PlainEvent::members(const char* at, int depth) {
  const bool is_object = *at == '{';
  const char last = is_object ? '}' : ']';
  const std::size_t first = keys_.size();
  nested_ += *at;
  at = skip_blanks(at + 1);
  for (bool is_first = true; *at != last || !is_first; is_first = false) {
    if (is_object) at = nested_key(at, first);
    if (at != nullptr) at = nested(at, depth + 1);
    if (at == nullptr) return nullptr;
    at = skip_blanks(at);
    if (*at == last) break;
    if (*at != ',') return nullptr;
    nested_ += ',';
    at = skip_blanks(at + 1);
  }
  nested_ += last;
  keys_.resize(first);
  return at + 1;
}

}  // namespace profshim::trace_detail
