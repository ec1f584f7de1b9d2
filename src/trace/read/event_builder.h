// Builds a ReadEvent from the JSON parser's calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numbers.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {

enum class Field {
  kOther,
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTimestamp,
  kDuration,
  kId,
  kScopedId,
  kScope,
  kBindingPoint,
  kArgs
};

inline Field field_of(std::string_view key) {
  constexpr std::pair<std::string_view, Field> kFields[] = {{schema::event::kPhase, Field::kPhase},
                                                            {schema::event::kCategory, Field::kCategory},
                                                            {schema::event::kName, Field::kName},
                                                            {schema::event::kPid, Field::kPid},
                                                            {schema::event::kTid, Field::kTid},
                                                            {schema::event::kTimestamp, Field::kTimestamp},
                                                            {schema::event::kDuration, Field::kDuration},
                                                            {schema::event::kArgs, Field::kArgs},
                                                            {schema::event::kId, Field::kId},
                                                            {schema::event::kScopedId, Field::kScopedId},
                                                            {schema::event::kScope, Field::kScope},
                                                            {schema::event::kBindingPoint, Field::kBindingPoint}};
  for (const auto& [name, field] : kFields) {
    if (name == key) return field;
  }
  return Field::kOther;
}

/// Keeps all texts in one growing string, which may move: finish() makes the views.
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
    std::int64_t number = 0;
    if (field == Field::kPid || field == Field::kTid) {
      if (is_whole_number(value, number)) return set_number(field, value);
    } else if (field == Field::kTimestamp || field == Field::kDuration) {
      if (!is_number_text(value)) return;
      event_.has_text_times = true;
      return set_number(field, value);
    }
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
    switch (field) {
      case Field::kPid:
        event_.has_pid = event_.pid_is_number = true;
        event_.pid = id_number(value);
        break;
      case Field::kTid:
        event_.has_tid = event_.tid_is_number = true;
        event_.tid = id_number(value);
        break;
      case Field::kTimestamp:
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
        event_.id = id_number(value);
        break;
      default:
        break;
    }
  }

  /// Takes "id2": {"local": "0x1"} or {"global": "0x1"}.
  void set_scoped_id(std::string_view json);

  void arg_key(std::string_view key) { key_ = store(key); }
  void add_arg(ReadEvent::ReadArg::Kind kind, std::string_view text, std::int64_t integer = 0, double number = 0) {
    args_.push_back({.kind = kind, .integer = integer, .number = number});
    arg_places_.push_back({key_, store(text)});
  }

  std::size_t bytes() const { return texts_.size() + args_.size() * sizeof(ReadEvent::ReadArg); }

  /// Views are valid until the next start().
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

}  // namespace profshim::trace_detail
