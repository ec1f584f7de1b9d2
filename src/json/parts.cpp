#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "profshim/json.h"

namespace profshim {
namespace {

bool parse(std::string_view json, rapidjson::Document& document) {
  return !document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size()).HasParseError();
}

std::string text_of(const rapidjson::Value& value) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  value.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

}  // namespace

std::vector<std::string> json_elements(std::string_view json) {
  std::vector<std::string> elements;
  rapidjson::Document list;
  if (!parse(json, list) || !list.IsArray()) return elements;
  for (const auto& element : list.GetArray()) elements.push_back(text_of(element));
  return elements;
}

std::string json_part(std::string_view json, std::string_view key) {
  rapidjson::Document object;
  if (!parse(json, object) || !object.IsObject()) return "";
  const auto at = object.FindMember(rapidjson::Value(key.data(), static_cast<rapidjson::SizeType>(key.size())));
  return at != object.MemberEnd() ? text_of(at->value) : "";
}

}  // namespace profshim
