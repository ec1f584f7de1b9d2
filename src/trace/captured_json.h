// Compact JSON of a part of a document, put together again from the parser's calls.
#pragma once

#include <string>
#include <string_view>

#include "profshim/json.h"

namespace profshim::trace_detail {

class CapturedJson {
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

}  // namespace profshim::trace_detail
