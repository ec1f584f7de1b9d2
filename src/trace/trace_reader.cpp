// Streams a Kineto trace through RapidJSON's SAX parser. Iterative, with the encoding checked, numbers kept as text, so
// that nothing in a file can overflow the stack or round a time, and never more than one event in memory.
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>

#include "byte_source.h"
#include "numbers.h"
#include "plain_event.h"
#include "profshim/trace.h"

namespace profshim {
namespace {

using trace_detail::ByteSource;
using trace_detail::id_of_text;
using trace_detail::saturated;
using trace_detail::to_double;
using trace_detail::to_integer;
using trace_detail::to_ns;

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::uint64_t kMaxTokenBytes = 64ull << 20;
constexpr std::size_t kMaxPartBytes = 256ull << 20;  // of one event or one metadata value
constexpr int kMaxDepth = 256;

// ---- bytes for the parser
// --------------------------------------------------------------------------------------------

/// RapidJSON's stream concept over a ByteSource. A zero byte ends the text for RapidJSON, so a buffer ends with one.
class JsonStream {
 public:
  using Ch = char;
  JsonStream(ByteSource& source, const std::function<void(std::string_view)>& tap)
      : source_(source), tap_(tap), buffer_(kBufferBytes + trace_detail::kPlainMargin) {
    refill();
  }

  char Peek() const { return *at_; }
  char Take() {
    const char c = *at_;
    if (at_ < end_ && ++at_ == end_) refill();
    return c;
  }
  std::size_t Tell() const { return static_cast<std::size_t>(position_ + static_cast<std::uint64_t>(at_ - begin())); }

  // Only for parsing in place, which we do not do.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

  /// A token is complete: the limit on its length counts from here.
  void token_done() { token_at_ = Tell(); }
  bool at_end() const { return at_ == end_; }

  /// What lies in memory from here on: behind it are a zero and bytes that may be read.
  std::string_view ahead() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// To a place in ahead(), in front of its end: whole tokens have been taken.
  void skip_to(const char* place) {
    at_ = place;
    token_done();
  }
  bool token_too_long() const { return too_long_; }

 private:
  const char* begin() const { return buffer_.data(); }
  void refill() {
    position_ += static_cast<std::uint64_t>(end_ - begin());
    too_long_ = position_ - token_at_ > kMaxTokenBytes;
    const std::size_t n = too_long_ ? 0 : source_.read(buffer_.data(), kBufferBytes);
    at_ = begin();
    end_ = begin() + n;
    buffer_[n] = '\0';
    if (n > 0 && tap_) tap_({begin(), n});
  }

  ByteSource& source_;
  const std::function<void(std::string_view)>& tap_;
  std::vector<char> buffer_;
  const char* at_ = buffer_.data();
  const char* end_ = buffer_.data();
  std::uint64_t position_ = 0;  // of the start of the buffer
  std::uint64_t token_at_ = 0;
  bool too_long_ = false;
};

// ---- compact JSON of a part of the document
// --------------------------------------------------------------------------

class Capture {
 public:
  void start() {
    text_.clear();
    depth_ = 0;
    comma_ = false;
  }
  const std::string& text() const { return text_; }
  bool complete() const { return depth_ == 0; }

  void literal(std::string_view value) {
    separate();
    text_ += value;
    comma_ = true;
  }
  void string(std::string_view value) { literal(json_string(value)); }
  void key(std::string_view name) {
    separate();
    text_ += json_string(name) + ':';
    comma_ = false;
  }
  void open(char bracket) {
    separate();
    text_ += bracket;
    comma_ = false;
    ++depth_;
  }
  void close(char bracket) {
    text_ += bracket;
    comma_ = true;
    --depth_;
  }

 private:
  void separate() {
    if (comma_) text_ += ',';
  }
  std::string text_;
  int depth_ = 0;
  bool comma_ = false;
};

/// Finds keys that stand twice in one object.
class KeyLog {
 public:
  void open() { levels_.push_back(keys_.size()); }
  void add(std::string_view key) { keys_.push_back(std::hash<std::string_view>{}(key)); }
  bool close_repeats() {
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(levels_.back());
    std::sort(first, keys_.end());
    const bool repeats = std::adjacent_find(first, keys_.end()) != keys_.end();
    keys_.erase(first, keys_.end());
    levels_.pop_back();
    return repeats;
  }

 private:
  std::vector<std::size_t> keys_, levels_;
};

// ---- one event
// -------------------------------------------------------------------------------------------------------

enum class Field {
  kOther,
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTs,
  kDuration,
  kId,
  kId2,
  kScope,
  kBindingPoint,
  kArgs
};

Field field_of(std::string_view key) {
  constexpr std::pair<std::string_view, Field> kFields[] = {
      {"ph", Field::kPhase}, {"cat", Field::kCategory}, {"name", Field::kName},    {"pid", Field::kPid},
      {"tid", Field::kTid},  {"ts", Field::kTs},        {"dur", Field::kDuration}, {"args", Field::kArgs},
      {"id", Field::kId},    {"id2", Field::kId2},      {"s", Field::kScope},      {"bp", Field::kBindingPoint}};
  for (const auto& [name, field] : kFields) {
    if (name == key) return field;
  }
  return Field::kOther;
}

/// Collects the parts of one event; texts go into one string, and become views when the event is complete.
class EventBuilder {
 public:
  void start(std::uint64_t offset) {
    event_ = {};
    event_.offset = offset;
    texts_.clear();
    args_.clear();
    arg_places_.clear();
    field_places_.fill({});
  }

  void set_text(Field field, std::string_view value) {
    field_places_[static_cast<std::size_t>(field)] = store(value);
    switch (field) {
      case Field::kName:
        event_.has_name = true;
        break;
      case Field::kPid:
        event_.has_pid = true;
        break;
      case Field::kTid:
        event_.has_tid = true;
        break;
      case Field::kId:
        event_.has_id = true;
        event_.id = id_of_text(value, false);
        break;
      default:
        break;
    }
  }

  void set_number(Field field, std::string_view value) {
    const auto integer = [&] {
      std::int64_t n = 0;
      return to_integer(value, n) ? n : saturated(to_double(value));
    };
    switch (field) {
      case Field::kPid:
        event_.has_pid = event_.pid_is_number = true;
        event_.pid = integer();
        break;
      case Field::kTid:
        event_.has_tid = event_.tid_is_number = true;
        event_.tid = integer();
        break;
      case Field::kTs:
        event_.has_ts = true;
        event_.ts_us = to_double(value);
        event_.ts_ns = to_ns(value, event_.finer_than_ns);
        break;
      case Field::kDuration:
        event_.has_duration = true;
        event_.duration_us = to_double(value);
        event_.duration_ns = to_ns(value, event_.finer_than_ns);
        break;
      case Field::kId:
        event_.has_id = true;
        event_.id = integer();
        break;
      default:
        break;
    }
  }

  /// {"local": "0x1"} or {"global": "0x1"}
  void set_scoped_id(std::string_view json) {
    json_leaves(json, [this](std::string_view path, const ReadEvent::ReadArg& value) {
      if (path != "local" && path != "global") return;
      event_.has_id = true;
      event_.id = value.kind == ReadEvent::ReadArg::Kind::kString ? id_of_text(value.text, true) : value.integer;
    });
  }

  void arg_key(std::string_view key) { key_ = store(key); }
  void add_arg(ReadEvent::ReadArg::Kind kind, std::string_view text, std::int64_t integer = 0, double number = 0) {
    args_.push_back({.kind = kind, .integer = integer, .number = number});
    arg_places_.push_back({key_, store(text)});
  }

  std::size_t bytes() const { return texts_.size() + args_.size() * sizeof(ReadEvent::ReadArg); }

  const ReadEvent& finish() {
    for (std::size_t i = 0; i < args_.size(); ++i) {
      args_[i].key = view(arg_places_[i].first);
      args_[i].text = view(arg_places_[i].second);
    }
    const auto text = [&](Field field) { return view(field_places_[static_cast<std::size_t>(field)]); };
    event_.phase = text(Field::kPhase);
    event_.category = text(Field::kCategory);
    event_.name = text(Field::kName);
    event_.pid_text = text(Field::kPid);
    event_.tid_text = text(Field::kTid);
    event_.scope = text(Field::kScope);
    event_.binding_point = text(Field::kBindingPoint);
    event_.args = args_;
    return event_;
  }

 private:
  struct Place {
    std::size_t at = 0, size = 0;
  };
  Place store(std::string_view text) {
    const Place place{texts_.size(), text.size()};
    texts_ += text;
    return place;
  }
  std::string_view view(Place place) const { return std::string_view(texts_).substr(place.at, place.size); }

  ReadEvent event_;
  std::string texts_;
  std::vector<ReadEvent::ReadArg> args_;
  std::vector<std::pair<Place, Place>> arg_places_;
  std::array<Place, static_cast<std::size_t>(Field::kArgs) + 1> field_places_;
  Place key_;
};

// ---- the document
// ----------------------------------------------------------------------------------------------------

/// RapidJSON's handler: knows where in the document it is and passes every value to whoever wants it.
class Document {
 public:
  Document(const TraceVisitor& visitor, JsonStream& stream, ReadResult& result)
      : visitor_(visitor), stream_(stream), result_(result) {}

  const std::string& refused() const { return refused_; }
  bool stopped() const { return stopped_; }
  bool saw_events() const { return events_ != Events::kBefore; }

  bool Null() { return scalar(Kind::kNull, "null"); }
  bool Bool(bool value) { return scalar(Kind::kBool, value ? "true" : "false", value); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view number(text, size);
    std::int64_t integer = 0;
    if (to_integer(number, integer)) return scalar(Kind::kInt, number, integer, static_cast<double>(integer));
    return scalar(Kind::kDouble, number, 0, to_double(number));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) { return scalar(Kind::kString, {text, size}); }

  bool StartObject() {
    keys_.open();
    return open('{');
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    stream_.token_done();
    const std::string_view key(text, size);
    keys_.add(key);
    switch (place_) {
      case Place::kRoot:
        top_key_ = key;
        break;
      case Place::kEvent:
        field_ = field_of(key);
        break;
      case Place::kArgs:
        builder_.arg_key(key);
        break;
      case Place::kCapture:
        capture_.key(key);
        break;
      default:
        break;
    }
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (keys_.close_repeats() && result_.repeated_keys++ == 0) result_.repeated_key_at = stream_.Tell();
    return close('}');
  }
  bool StartArray() { return open('['); }
  bool EndArray(rapidjson::SizeType) { return close(']'); }

  // Numbers come as text only.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  using Kind = ReadEvent::ReadArg::Kind;
  enum class Place { kOutside, kRoot, kEvents, kEvent, kArgs, kCapture };
  enum class Events { kBefore, kIn, kAfter };

  bool refuse(const char* why) {
    refused_ = why;
    return false;
  }

  bool scalar(Kind kind, std::string_view text, std::int64_t integer = 0, double number = 0) {
    stream_.token_done();
    if (capture_.text().size() > kMaxPartBytes || builder_.bytes() > kMaxPartBytes) {
      return refuse("an event or a value larger than 256 MiB");
    }
    switch (place_) {
      case Place::kOutside:
        return refuse("a trace is a JSON object or a list of events");
      case Place::kEvents:
        return refuse("an element of traceEvents is no object");
      case Place::kRoot:
        if (top_key_ == "traceEvents") return refuse("traceEvents is no list");
        emit_metadata(kind == Kind::kString ? json_string(text) : std::string(text));
        break;
      case Place::kEvent:
        if (kind == Kind::kString) builder_.set_text(field_, text);
        if (kind == Kind::kInt || kind == Kind::kDouble) builder_.set_number(field_, text);
        break;
      case Place::kArgs:
        builder_.add_arg(kind, text, integer, number);
        break;
      case Place::kCapture:
        if (kind == Kind::kString) {
          capture_.string(text);
        } else {
          capture_.literal(text);
        }
        break;
    }
    return true;
  }

  bool open(char bracket) {
    stream_.token_done();
    if (++depth_ > kMaxDepth) return refuse("nested deeper than 256 levels");
    const bool object = bracket == '{';
    switch (place_) {
      case Place::kOutside:
        place_ = object ? Place::kRoot : Place::kEvents;
        if (!object) {
          events_ = Events::kIn;
          result_.bare_list = true;
        }
        return true;
      case Place::kRoot:
        if (top_key_ != "traceEvents") return start_capture(bracket);
        if (object) return refuse("traceEvents is no list");
        if (events_ != Events::kBefore) return refuse("traceEvents stands twice");
        place_ = Place::kEvents;
        events_ = Events::kIn;
        return true;
      case Place::kEvents:
        if (!object) return refuse("an element of traceEvents is no object");
        place_ = Place::kEvent;
        builder_.start(stream_.Tell());
        return true;
      case Place::kEvent:
        if (!object || field_ != Field::kArgs) return start_capture(bracket);
        place_ = Place::kArgs;
        return true;
      case Place::kArgs:
        return start_capture(bracket);
      case Place::kCapture:
        capture_.open(bracket);
        return true;
    }
    return true;
  }

  bool start_capture(char bracket) {
    captured_for_ = place_;
    place_ = Place::kCapture;
    capture_.start();
    capture_.open(bracket);
    return true;
  }

  bool close(char bracket) {
    stream_.token_done();
    --depth_;
    switch (place_) {
      case Place::kCapture:
        capture_.close(bracket);
        if (capture_.complete()) end_capture();
        return true;
      case Place::kArgs:
        place_ = Place::kEvent;
        return true;
      case Place::kEvent:
        place_ = Place::kEvents;
        return emit_event();
      case Place::kEvents:
        place_ = result_.bare_list ? Place::kOutside : Place::kRoot;
        events_ = Events::kAfter;
        return true;
      default:
        place_ = Place::kOutside;
        return true;
    }
  }

  void end_capture() {
    place_ = captured_for_;
    if (place_ == Place::kRoot) emit_metadata(capture_.text());
    if (place_ == Place::kArgs) builder_.add_arg(Kind::kJson, capture_.text());
    if (place_ == Place::kEvent && field_ == Field::kId2) builder_.set_scoped_id(capture_.text());
  }

  void emit_metadata(const std::string& json) {
    if (visitor_.metadata) visitor_.metadata(top_key_, json, events_ == Events::kBefore);
  }

  bool emit_event() { return emit(builder_.finish()) && plain_events(); }

  bool emit(const ReadEvent& event) {
    ++result_.events;
    if (!visitor_.event || visitor_.event(event)) return true;
    stopped_ = true;
    return false;
  }

  /// The parser stands in front of the last '}' of an event and takes that when this returns. It does not mind which
  /// event's it is: those that follow in memory and are plain are read here, each with the comma in front of it.
  bool plain_events() {
    const std::string_view ahead = stream_.ahead();
    const std::uint64_t position = stream_.Tell();
    const char* begin = nullptr;
    const char* last = ahead.data();
    while ((last = plain_.read_next(last, begin)) != nullptr) {
      plain_.event().offset = position + static_cast<std::uint64_t>(begin - ahead.data());
      stream_.skip_to(last);
      if (!emit(plain_.event())) return false;
    }
    return true;
  }

  const TraceVisitor& visitor_;
  JsonStream& stream_;
  ReadResult& result_;
  Place place_ = Place::kOutside, captured_for_ = Place::kOutside;
  Events events_ = Events::kBefore;
  int depth_ = 0;
  bool stopped_ = false;
  std::string top_key_, refused_;
  Field field_ = Field::kOther;
  EventBuilder builder_;
  trace_detail::PlainEvent plain_;
  Capture capture_;
  KeyLog keys_;
};

constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;

std::string why_parsing_failed(const rapidjson::ParseResult& parsed, const Document& document, const JsonStream& stream,
                               const ByteSource& source) {
  if (!source.error().empty()) return source.error();
  if (stream.token_too_long()) return "a text or gap longer than 64 MiB";
  if (!document.refused().empty()) return document.refused();
  return rapidjson::GetParseError_En(parsed.Code());
}

ReadResult read_source(ByteSource& source, const TraceVisitor& visitor) {
  ReadResult result;
  JsonStream stream(source, visitor.bytes);
  Document document(visitor, stream, result);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, document);
  result.bytes = stream.Tell();
  const auto fail = [&](const std::string& what) {
    result.error = "byte " + std::to_string(result.bytes) + ": " + what;
  };
  if (document.stopped()) {
    result.ok = true;
  } else if (!parsed) {
    const bool ended = stream.at_end() && !stream.token_too_long() && document.refused().empty();
    result.truncated = source.truncated() || (ended && source.error().empty());
    fail((result.truncated && source.error().empty() ? "the file ends early: " : "") +
         why_parsing_failed(parsed, document, stream, source));
  } else if (!source.error().empty()) {
    result.truncated = source.truncated();
    fail(source.error());
  } else if (!stream.at_end()) {
    fail("a zero byte, and more behind it");
  } else if (!document.saw_events()) {
    fail("no traceEvents in it: not a trace");
  } else {
    result.ok = true;
  }
  return result;
}

ReadResult read_guarded(std::unique_ptr<ByteSource> source, const TraceVisitor& visitor) {
  try {
    const auto plain = trace_detail::maybe_gzip(std::move(source));
    return read_source(*plain, visitor);
  } catch (const std::bad_alloc&) {
    ReadResult result;
    result.error = "byte 0: out of memory";
    return result;
  }
}

}  // namespace

std::string ReadResult::useless() const {
  if (!ok && !(truncated && events > 0)) return error;
  return events == 0 ? "no events in it" : "";
}

ReadResult read_trace(const std::string& path, const TraceVisitor& visitor) {
  auto source = trace_detail::file_source(path);
  if (source == nullptr) {
    ReadResult result;
    result.error = std::string("cannot open: ") + std::strerror(errno);
    return result;
  }
  return read_guarded(std::move(source), visitor);
}

ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor) {
  return read_guarded(trace_detail::memory_source(bytes), visitor);
}

}  // namespace profshim
