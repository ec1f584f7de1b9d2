// The elements of a small JSON list.
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "profshim/trace.h"

namespace profshim {

std::vector<std::string> json_elements(std::string_view json) {
  std::vector<std::string> elements;
  rapidjson::Document list;
  if (list.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size()).HasParseError() || !list.IsArray())
    return elements;
  for (const auto& element : list.GetArray()) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> writer(text);
    element.Accept(writer);
    elements.emplace_back(text.GetString(), text.GetSize());
  }
  return elements;
}

}  // namespace profshim
