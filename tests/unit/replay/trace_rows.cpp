#include "trace_rows.h"

#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <zlib.h>

#include <cstring>
#include <stdexcept>

namespace profshim::replay {
namespace {

constexpr char kNumberMark = '#';
constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag;

/// A double would round times, so numbers stay text.
struct NumbersAsText {
  rapidjson::Document& out;
  bool Null() { return out.Null(); }
  bool Bool(bool value) { return out.Bool(value); }
  bool Int(int value) { return out.Int(value); }
  bool Uint(unsigned value) { return out.Uint(value); }
  bool Int64(std::int64_t value) { return out.Int64(value); }
  bool Uint64(std::uint64_t value) { return out.Uint64(value); }
  bool Double(double value) { return out.Double(value); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const std::string marked = kNumberMark + std::string(text, size);
    return out.String(marked.data(), static_cast<rapidjson::SizeType>(marked.size()), true);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) { return out.String(text, size, true); }
  bool StartObject() { return out.StartObject(); }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return out.Key(text, size, true); }
  bool EndObject(rapidjson::SizeType members) { return out.EndObject(members); }
  bool StartArray() { return out.StartArray(); }
  bool EndArray(rapidjson::SizeType elements) { return out.EndArray(elements); }
};

std::string_view string_of(const rapidjson::Value& value) { return {value.GetString(), value.GetStringLength()}; }
bool is_number(const rapidjson::Value& value) { return value.IsString() && string_of(value).starts_with(kNumberMark); }

// Writes 12, 12.0 and 12.000000 as "12".
std::string plain_number(std::string_view text) {
  if (text.find('.') != std::string_view::npos && text.find_first_of("eE") == std::string_view::npos) {
    text = text.substr(0, text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.remove_suffix(1);
  }
  return std::string(text);
}

std::string compact(const rapidjson::Value& value) {
  if (is_number(value)) return plain_number(string_of(value).substr(1));
  if (value.IsString()) return '"' + std::string(string_of(value)) + '"';
  if (value.IsBool()) return value.GetBool() ? "true" : "false";
  std::string text;
  if (value.IsArray()) {
    for (const auto& element : value.GetArray()) text += (text.empty() ? "" : ",") + compact(element);
    return "[" + text + "]";
  }
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      text += (text.empty() ? "" : ",") + std::string(string_of(member.name)) + ":" + compact(member.value);
    }
    return "{" + text + "}";
  }
  return "null";
}

// `text` is in microseconds.
std::int64_t nanoseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string decimals(point == std::string_view::npos ? "" : text.substr(point + 1));
  const std::size_t last = decimals.find_last_not_of('0');
  decimals.erase(last == std::string::npos ? 0 : last + 1);
  if (decimals.size() > 3 || text.find_first_of("eE") != std::string_view::npos) {
    throw std::runtime_error("no whole number of nanoseconds: " + std::string(text));
  }
  decimals.resize(3, '0');
  return std::stoll(digits + decimals);
}

const rapidjson::Value* member(const rapidjson::Value& object, const char* key) {
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

std::string text_of(const rapidjson::Value& event, const char* key) {
  const rapidjson::Value* const value = member(event, key);
  if (value == nullptr) return {};
  return is_number(*value) ? std::string(string_of(*value).substr(1)) : std::string(string_of(*value));
}

Row row_of(const rapidjson::Value& event, std::int64_t base_ns) {
  Row row;
  row.phase = text_of(event, "ph").at(0);
  row.category = text_of(event, "cat");
  row.name = text_of(event, "name");
  row.pid = text_of(event, "pid");
  row.tid = text_of(event, "tid");
  if (const std::string begin = text_of(event, "ts"); !begin.empty()) row.begin_ns = base_ns + nanoseconds(begin);
  if (const std::string duration = text_of(event, "dur"); !duration.empty()) row.duration_ns = nanoseconds(duration);
  if (row.category == "ac2g") row.id = std::stoll(text_of(event, "id"));
  if (const rapidjson::Value* const args = member(event, "args")) {
    for (const auto& arg : args->GetObject()) {
      if (!row.args.emplace(string_of(arg.name), compact(arg.value)).second) {
        throw std::runtime_error("an argument stands twice: " + std::string(string_of(arg.name)));
      }
    }
  }
  return row;
}

}  // namespace

std::int64_t Row::number(const std::string& key) const {
  const auto found = args.find(key);
  if (found == args.end()) throw std::runtime_error(name + " has no \"" + key + "\"");
  std::size_t used = 0;
  const std::int64_t value = std::stoll(found->second, &used);
  if (used != found->second.size()) throw std::runtime_error(key + " is no whole number: " + found->second);
  return value;
}

std::int64_t Row::number_or(const std::string& key, std::int64_t otherwise) const {
  return args.count(key) != 0 ? number(key) : otherwise;
}

Trace trace_rows(const std::string& json) {
  rapidjson::Document document;
  rapidjson::StringStream stream(json.c_str());
  rapidjson::Reader reader;
  const auto build = [&](rapidjson::Document& out) {
    NumbersAsText handler{out};
    return !reader.Parse<kFlags>(stream, handler).IsError();
  };
  document.Populate(build);
  if (reader.HasParseError() || !document.IsObject() || member(document, "traceEvents") == nullptr) {
    throw std::runtime_error("no trace");
  }
  Trace trace;
  if (const std::string base = text_of(document, "baseTimeNanoseconds"); !base.empty())
    trace.base_ns = std::stoll(base);
  if (const rapidjson::Value* const devices = member(document, "deviceProperties")) {
    for (const auto& device : devices->GetArray()) {
      Trace::Object& object = trace.devices.emplace_back();
      for (const auto& one : device.GetObject()) object.emplace_back(string_of(one.name), compact(one.value));
    }
  }
  for (const auto& event : member(document, "traceEvents")->GetArray()) {
    trace.rows.push_back(row_of(event, trace.base_ns));
  }
  return trace;
}

std::string unpacked_file(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::vector<char> block(1 << 20);
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  if (got < 0) throw std::runtime_error("cannot read " + path);
  return text;
}

std::vector<std::int64_t> numbers_of(const std::string& list) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 1; at < list.size(); at = list.find_first_of(",]", at) + 1) {
    numbers.push_back(std::stoll(list.substr(at)));
  }
  return numbers;
}

std::string line_of(const Row& row) {
  std::string line = row.category + ' ' + row.phase + " \"" + row.name + "\" pid " + row.pid + " tid " + row.tid +
                     " begin " + std::to_string(row.begin_ns) + " ns for " + std::to_string(row.duration_ns) + " ns";
  if (row.id != 0) line += " id " + std::to_string(row.id);
  for (const auto& [key, value] : row.args) line += ", " + key + " = " + value;
  return line;
}

}  // namespace profshim::replay
