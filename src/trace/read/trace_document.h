// Builds events and top-level members from JSON tokens, for the visitor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "captured_json.h"
#include "common_events.h"
#include "event_builder.h"
#include "numbers.h"
#include "plain_event.h"
#include "profshim/json/stream_parser.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {

inline constexpr std::size_t kMaxPartBytes = 256ull << 20;  // of one event or metadata value
inline constexpr int kMaxDepth = 256;

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

class TraceDocument final : public JsonHandler {
 public:
  TraceDocument(const TraceVisitor& visitor, JsonStream& stream, ReadResult& result)
      : visitor_(visitor), stream_(stream), result_(result), common_(result.repairs) {}

  /// Why the text is no trace.
  const std::string& refused() const { return refused_; }
  /// Why the event that could not be parsed is none; "" if the parser knows.
  const std::string& complaint() const { return complaint_; }
  bool stopped() const { return stopped_; }
  bool saw_events() const { return events_ != Events::kBefore; }
  /// True if the text so far is a list of events that lacks only its last bracket.
  bool is_unclosed_list() const { return result_.bare_list && place_ == Place::kEvents; }
  bool saw_all_events() const { return events_ == Events::kAfter; }
  /// Forgets the event that could not be parsed. The parser's next value is the rest of the list of events, or of the
  /// object around it: the bracket that opens it is not in the text.
  void go_on_in_list() {
    const int depth = result_.bare_list ? 1 : 2;
    go_on(Place::kEvents, depth);
    events_ = Events::kIn;
  }
  void go_on_behind_list() { go_on(Place::kRoot, 1); }
  /// Call after the last event.
  void finish() {
    if (stopped_) return;
    common_.finish();
    give_further();
  }

  bool on_null() override { return scalar(Kind::kNull, "null"); }
  bool on_bool(bool value) override { return scalar(Kind::kBool, value ? "true" : "false", value); }
  bool on_number(std::string_view number) override {
    std::int64_t integer = 0;
    if (to_integer(number, integer)) return scalar(Kind::kInt, number, integer, static_cast<double>(integer));
    return scalar(Kind::kDouble, number, 0, to_double(number));
  }
  bool on_string(std::string_view text) override { return scalar(Kind::kString, text); }

  bool on_open(char bracket) override {
    if (bracket == '{') keys_.open();
    if (std::exchange(goes_on_, false)) return true;
    return open(bracket);
  }
  bool on_key(std::string_view key) override {
    stream_.token_done();
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
  bool on_close(char bracket) override {
    if (bracket == '}' && keys_.close_repeats() && result_.repeated_keys++ == 0) {
      result_.repeated_key_at = stream_.position();
    }
    return close(bracket);
  }

 private:
  using Kind = ReadEvent::ReadArg::Kind;
  enum class Place { kOutside, kRoot, kEvents, kEvent, kArgs, kCapture };
  enum class Events { kBefore, kIn, kAfter };

  void go_on(Place place, int depth) {
    place_ = place;
    depth_ = depth;
    keys_ = {};
    capture_.start();
    complaint_.clear();
    goes_on_ = true;
  }

  /// After a first event, it is damage.
  bool no_event() {
    constexpr char kWhy[] = "an element of traceEvents is not an object";
    if (result_.events == 0) return refuse(kWhy);
    complaint_ = kWhy;
    return false;
  }

  bool refuse(const char* why) {
    refused_ = why;
    return false;
  }

  bool scalar(Kind kind, std::string_view text, std::int64_t integer = 0, double number = 0) {
    stream_.token_done();
    if (capture_.text().size() > kMaxPartBytes || builder_.bytes() > kMaxPartBytes) {
      return refuse("an event or a value is larger than 256 MiB");
    }
    switch (place_) {
      case Place::kOutside:
        return refuse("not a trace: neither a JSON object nor a list of events");
      case Place::kEvents:
        if (kind != Kind::kNull) return no_event();
        ++result_.repairs.no_objects;
        break;
      case Place::kRoot:
        if (top_key_ == schema::top::kTraceEvents) return refuse("traceEvents is not a list");
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
    if (++depth_ > kMaxDepth) return refuse("objects or lists are nested deeper than 256 levels");
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
        if (top_key_ != schema::top::kTraceEvents) return start_capture(bracket);
        if (object) return refuse("traceEvents is not a list");
        if (events_ != Events::kBefore) return refuse("traceEvents occurs twice");
        place_ = Place::kEvents;
        events_ = Events::kIn;
        return true;
      case Place::kEvents:
        if (!object) return no_event();
        place_ = Place::kEvent;
        builder_.start(stream_.position());
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
        common_.finish();
        return give_further();
      default:
        place_ = Place::kOutside;
        return true;
    }
  }

  void end_capture() {
    place_ = captured_for_;
    if (place_ == Place::kRoot) emit_metadata(capture_.text());
    if (place_ == Place::kArgs) builder_.add_arg(Kind::kJson, capture_.text());
    if (place_ == Place::kEvent && field_ == Field::kScopedId) builder_.set_scoped_id(capture_.text());
  }

  void emit_metadata(const std::string& json) {
    if (visitor_.metadata) visitor_.metadata(top_key_, json, events_ == Events::kBefore);
  }

  bool emit_event() { return emit(builder_.finish()) && plain_events(); }

  bool emit(const ReadEvent& read) {
    const ReadEvent* const event = common_.take(read);
    return (event == nullptr || give(*event)) && give_further();
  }

  bool give_further() {
    while (const ReadEvent* const event = common_.next()) {
      if (!give(*event)) return false;
    }
    return true;
  }

  bool give(const ReadEvent& event) {
    ++result_.events;
    if (!visitor_.event || visitor_.event(event)) return true;
    stopped_ = true;
    return false;
  }

  /// Reads the next events by plain_event.h, as far as they are plain and in memory. Leaves the stream at the last '}'
  /// of the last event read.
  bool plain_events() {
    const std::string_view ahead = stream_.ahead();
    const std::uint64_t position = stream_.position();
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
  bool stopped_ = false, goes_on_ = false;
  std::string top_key_, refused_, complaint_;
  Field field_ = Field::kOther;
  EventBuilder builder_;
  CommonEvents common_;
  PlainEvent plain_;
  CapturedJson capture_;
  KeyLog keys_;
};

}  // namespace profshim::trace_detail
