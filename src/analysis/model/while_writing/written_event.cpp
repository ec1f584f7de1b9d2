#include "written_event.h"

#include <charconv>
#include <cmath>

#include "profshim/json/text_clean.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

/// As the reader takes a number of the file: "12" is whole, "1e+20" is not.
JsonValue real_value(double number) {
  constexpr double kAllExact = 9007199254740992;
  JsonValue value;
  value.number = number;
  value.kind = JsonValue::Kind::kDouble;
  if (std::trunc(number) != number || std::abs(number) > kAllExact) return value;
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, number).ptr;
  const auto [read, error] = std::from_chars(text, end, value.integer);
  if (error == std::errc{} && read == end) {
    value.kind = JsonValue::Kind::kInt;
  } else {
    value.integer = 0;
  }
  return value;
}

JsonValue whole_value(std::int64_t number) {
  JsonValue value;
  value.kind = JsonValue::Kind::kInt;
  value.integer = number;
  value.number = static_cast<double>(number);
  return value;
}

}  // namespace

std::string_view WrittenEvent::shown(std::string_view text) {
  if (trace_detail::plain_prefix(text.data(), text.size()) == text.size()) return text;
  return cleaned_.emplace_back(trace_detail::valid_utf8(text));
}

JsonValue WrittenEvent::shown(const Arg& arg) {
  JsonValue value;
  if (const auto* real = std::get_if<double>(&arg.value)) {
    value = real_value(*real);
  } else if (const auto* text = std::get_if<std::string_view>(&arg.value)) {
    value.kind = JsonValue::Kind::kString;
    value.text = shown(*text);
  } else if (const auto* json = std::get_if<RawJson>(&arg.value)) {
    value.kind = JsonValue::Kind::kJson;
    value.text = json->text;
  } else if (const auto* flag = std::get_if<bool>(&arg.value)) {
    value.kind = JsonValue::Kind::kBool;
    value.integer = *flag;
  } else if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) {
    value = whole_value(*integer);
  } else if (const std::uint64_t number = std::get<std::uint64_t>(arg.value); number >> 63 == 0) {
    value = whole_value(static_cast<std::int64_t>(number));
  } else {
    value.kind = JsonValue::Kind::kDouble;
    value.number = static_cast<double>(number);
  }
  value.key = arg.key;
  return value;
}

const ReadEvent& WrittenEvent::read(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) {
  cleaned_.clear();
  args_.clear();
  event_ = {};
  event_.phase = {&event.phase, 1};
  const std::string_view category = schema::category_name(event.category);
  event_.category = category.empty() ? event.other_category : category;
  event_.name = shown(event.name);
  event_.has_name = event_.has_pid = event_.has_tid = event_.has_ts = true;
  event_.pid_is_number = event_.tid_is_number = !event.text_ids;
  if (event.text_ids) {
    event_.pid_text = shown(event.pid_text);
    event_.tid_text = shown(event.tid_text);
  } else {
    event_.pid = event.pid;
    event_.tid = event.tid;
  }
  event_.ts_ns = begin_ns;
  event_.has_duration = event.phase == schema::phase::kSlice;
  if (event_.has_duration) event_.duration_ns = duration_ns;
  event_.has_id = event.phase == schema::phase::kAsyncBegin || event.phase == schema::phase::kAsyncEnd;
  if (event_.has_id) event_.id = static_cast<std::int64_t>(event.id);
  for (const std::span<const Arg> args : {event.args, event.more_args}) {
    for (const Arg& arg : args) {
      const double* const real = std::get_if<double>(&arg.value);
      if (real == nullptr || std::isfinite(*real)) args_.push_back(shown(arg));
    }
  }
  event_.args = args_;
  return event_;
}

}  // namespace profshim::analysis_detail
