#include <rapidjson/document.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "profshim/json.h"

namespace profshim {
namespace {

using Leaf = std::function<void(std::string_view, const JsonValue&)>;
using Kind = JsonValue::Kind;

// Limits recursion; metadata has few levels.
constexpr int kMaxDepth = 64;

bool visit(const rapidjson::Value& value, std::string& path, int depth, const Leaf& leaf);

bool visit_member(const rapidjson::Value& value, std::string& path, std::string_view name, int depth,
                  const Leaf& leaf) {
  const std::size_t before = path.size();
  if (!path.empty()) path += '.';
  path += name;
  const bool ok = visit(value, path, depth + 1, leaf);
  path.resize(before);
  return ok;
}

JsonValue scalar(const rapidjson::Value& value) {
  JsonValue result;
  if (value.IsBool()) {
    result.kind = Kind::kBool;
    result.integer = value.GetBool();
  } else if (value.IsInt64()) {
    result.kind = Kind::kInt;
    result.integer = value.GetInt64();
    result.number = static_cast<double>(result.integer);
  } else if (value.IsNumber()) {
    result.kind = Kind::kDouble;
    result.number = value.GetDouble();
  } else if (value.IsString()) {
    result.kind = Kind::kString;
    result.text = {value.GetString(), value.GetStringLength()};
  } else if (value.IsObject() || value.IsArray()) {
    result.kind = Kind::kJson;
    result.text = value.IsObject() ? "{}" : "[]";
  }
  return result;
}

bool visit(const rapidjson::Value& value, std::string& path, int depth, const Leaf& leaf) {
  if (depth > kMaxDepth) return false;
  if (value.IsObject() && !value.ObjectEmpty()) {
    for (const auto& member : value.GetObject()) {
      const std::string_view name(member.name.GetString(), member.name.GetStringLength());
      if (!visit_member(member.value, path, name, depth, leaf)) return false;
    }
    return true;
  }
  if (value.IsArray() && !value.Empty()) {
    rapidjson::SizeType index = 0;
    for (const auto& element : value.GetArray()) {
      if (!visit_member(element, path, std::to_string(index++), depth, leaf)) return false;
    }
    return true;
  }
  leaf(path, scalar(value));
  return true;
}

struct DepthLimit : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, DepthLimit> {
  bool StartObject() { return ++depth <= kMaxDepth; }
  bool StartArray() { return ++depth <= kMaxDepth; }
  bool EndObject(rapidjson::SizeType) { return --depth >= 0; }
  bool EndArray(rapidjson::SizeType) { return --depth >= 0; }
  int depth = 0;
};

}  // namespace

bool valid_json(std::string_view json) {
  if (json.empty() || json.find('\0') != json.npos) return false;  // the parser ignores text after a NUL
  rapidjson::MemoryStream stream(json.data(), json.size());
  rapidjson::Reader reader;
  DepthLimit depth;
  return !reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(stream, depth).IsError();
}

bool json_leaves(std::string_view json, const Leaf& leaf) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document.HasParseError()) return false;
  std::string path;
  return visit(document, path, 0, leaf);
}

}  // namespace profshim
