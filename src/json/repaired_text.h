// Hands a text to RapidJSON, and repairs on the way what JsonRepair names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "profshim/json/repairs.h"
#include "profshim/json/stream_parser.h"

namespace profshim {

/// A stream as RapidJSON reads it. Looks at the text in runs: the bytes of a run that needs no repair come unchanged,
/// without another look at each.
class RepairedText {
 public:
  using Ch = char;
  /// `before`: comes before the stream's text.
  RepairedText(JsonStream& stream, JsonRepairs& repairs, std::string_view before)
      : stream_(stream), repairs_(repairs), instead_(before) {}

  char Peek() {
    if (clean_ > 0) return stream_.peek();
    if (given_ == instead_.size()) look();
    return given_ < instead_.size() ? instead_[given_] : stream_.peek();
  }
  char Take() {
    if (clean_ > 0) {
      --clean_;
      return stream_.take();
    }
    if (given_ == instead_.size()) look();
    if (given_ < instead_.size()) return instead_[given_++];
    if (clean_ > 0) --clean_;
    return stream_.take();
  }
  std::size_t Tell() const { return static_cast<std::size_t>(stream_.position()); }

  // RapidJSON calls these only when it parses in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  /// Finds the next run. At the end of the text there is none.
  void look();
  /// Returns the length of the prefix that needs no repair, as far as the block shows. Follows the strings in it.
  std::size_t clean_run(std::string_view ahead);
  std::size_t clean_in_string(std::string_view rest);
  std::size_t clean_between_tokens(std::string_view rest);
  void look_between_tokens();
  void look_in_string();
  void byte_order_mark();
  void comma();
  void word();
  void escape();
  /// Takes one escape. Sets `unicode` if it is \u with four digits.
  std::string one_escape(unsigned& unicode);
  void not_ascii();
  char next() const { return stream_.peek(); }
  void instead(std::string_view text) {
    instead_ = text;
    given_ = 0;
  }

  JsonStream& stream_;
  JsonRepairs& repairs_;
  std::size_t clean_ = 0;  // bytes of the stream that come unchanged
  std::string instead_;    // comes first, from given_ on
  std::size_t given_ = 0;
  bool in_string_ = false;
};

}  // namespace profshim
