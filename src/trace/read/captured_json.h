// Rebuilds compact JSON from the JSON parser's calls.
#pragma once

#include <string>
#include <string_view>

#include "profshim/json/writer.h"

namespace profshim::trace_detail {

class CapturedJson {
 public:
  void start() { json_ = JsonWriter(JsonWriter::Layout::kCompact); }
  const std::string& text() const { return json_.text(); }
  bool complete() const { return json_.depth() == 0; }

  void literal(std::string_view value) { json_.raw(value); }
  void string(std::string_view value) { json_.value(value); }
  void key(std::string_view name) { json_.key(name); }
  void open(char bracket) { bracket == '{' ? json_.open_object() : json_.open_list(); }
  void close(char bracket) { bracket == '}' ? json_.close_object() : json_.close_list(); }

 private:
  JsonWriter json_;
};

}  // namespace profshim::trace_detail
