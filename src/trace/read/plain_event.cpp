#include "plain_event.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <functional>
#include <limits>

#include "numbers.h"
#include "trace/schema.h"

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
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
  for (;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // As signed numbers, non-ASCII and control bytes are less than a blank.
    const __m128i ends = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)),
                                      _mm_cmplt_epi8(bytes, blank));
    const int mask = _mm_movemask_epi8(ends);
    if (mask == 0) continue;
    at += __builtin_ctz(static_cast<unsigned>(mask));
    return *at == '"' ? at : nullptr;
  }
#else
  for (; *at != '"'; ++at) {
    if (*at == '\\' || static_cast<signed char>(*at) < ' ') return nullptr;
  }
  return at;
#endif
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
  lists_.clear();
  list_places_.clear();
  for (;;) {
    at = field(skip_blanks(at + 1));
    if (at == nullptr) return nullptr;
    at = skip_blanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
  }
  for (const auto& [arg, place] : list_places_)
    args_[arg].text = std::string_view(lists_).substr(place.first, place.second);
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
  const char* const key_end = end_of_text(at + 1);
  if (key_end == nullptr) return nullptr;
  const std::string_view key = between(at + 1, key_end);
  if (!is_new(key, 0)) return nullptr;
  at = skip_blanks(key_end + 1);
  if (*at != ':') return nullptr;
  at = skip_blanks(at + 1);
  if (key == schema::event::kArgs) return *at == '{' ? arguments(at) : nullptr;
  if (key == schema::event::kScopedId) return *at == '{' ? scoped_id(at) : nullptr;
  if (*at == '"') {
    const char* const end = end_of_text(at + 1);
    if (end == nullptr) return nullptr;
    text_field(key, between(at + 1, end));
    return end + 1;
  }
  const char* const end = end_of_number(at);
  if (end == nullptr) return end_of_word(at);
  const std::string_view text = between(at, end);
  if (key == schema::event::kTimestamp || key == schema::event::kDuration) {
    time(key, text);
  } else if (key == schema::event::kPid) {
    event_.has_pid = event_.pid_is_number = true;
    event_.pid = id_number(text);
  } else if (key == schema::event::kTid) {
    event_.has_tid = event_.tid_is_number = true;
    event_.tid = id_number(text);
  } else if (key == schema::event::kId) {
    event_.has_id = true;
    event_.id = id_number(text);
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
    const char* const key_end = end_of_text(at + 1);
    if (key_end == nullptr) return nullptr;
    ReadEvent::ReadArg arg;
    arg.key = between(at + 1, key_end);
    if (!is_new(arg.key, first)) return nullptr;
    at = skip_blanks(key_end + 1);
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
    const char* const end = end_of_text(at + 1);
    if (end == nullptr) return nullptr;
    arg.kind = Kind::kString;
    arg.text = between(at + 1, end);
    return end + 1;
  }
  if (*at == '[') {
    arg.kind = Kind::kJson;
    const std::size_t begin = lists_.size();
    const char* const end = list(at, 0);
    list_places_.push_back({args_.size(), {begin, lists_.size() - begin}});
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

const char* PlainEvent::list(const char* at, int depth) {
  if (depth == kMostDepth) return nullptr;
  lists_ += '[';
  at = skip_blanks(at + 1);
  if (*at == ']') {
    lists_ += ']';
    return at + 1;
  }
  for (;;) {
    const char* end = nullptr;
    if (*at == '[') {
      end = list(at, depth + 1);
    } else {
      if (*at == '"') {
        end = end_of_text(at + 1);
        if (end != nullptr) ++end;
      } else {
        end = end_of_number(at);
        if (end == nullptr) end = end_of_word(at);
      }
      if (end != nullptr) lists_.append(at, end);
    }
    if (end == nullptr) return nullptr;
    at = skip_blanks(end);
    if (*at != ',' && *at != ']') return nullptr;
    lists_ += *at;
    if (*at == ']') return at + 1;
    at = skip_blanks(at + 1);
  }
}

}  // namespace profshim::trace_detail
