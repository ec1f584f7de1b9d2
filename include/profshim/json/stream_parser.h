// A streaming JSON parser for texts of any size. It holds one block and one token in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/json/repairs.h"

namespace profshim {

class JsonStream {
 public:
  /// Returns the number of bytes read, at most `size`; 0 = end of text.
  using Read = std::function<std::size_t(char* data, std::size_t size)>;
  /// Readable bytes behind ahead(); the first is a zero.
  static constexpr std::size_t kMargin = 64;

  explicit JsonStream(Read read) : read_(std::move(read)), buffer_(kBufferBytes + kMargin) { refill(); }
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  std::uint64_t position() const { return position_ + static_cast<std::uint64_t>(at_ - begin()); }
  bool at_end() const { return at_ == end_; }
  /// The unread part of the current block.
  std::string_view ahead() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// For an on_close() that has parsed the next values itself: the parser continues at `place`, inside ahead(). The
  /// bracket there must equal on_close()'s argument.
  void skip_to(const char* place) {
    at_ = place;
    token_done();
  }
  /// The next token's limit, kMaxTokenBytes, counts from here.
  void token_done() { token_at_ = position(); }
  /// True if the text was cut off at a token, or a gap between tokens, longer than kMaxTokenBytes.
  bool token_too_long() const { return too_long_; }

  // For the parser: a zero byte ends the text.
  char peek() const { return *at_; }
  char take() {
    const char c = *at_;
    if (at_ < end_ && ++at_ == end_) refill();
    return c;
  }

 private:
  static constexpr std::size_t kBufferBytes = 256 * 1024;
  static constexpr std::uint64_t kMaxTokenBytes = 64ull << 20;

  const char* begin() const { return buffer_.data(); }
  void refill();

  Read read_;
  std::vector<char> buffer_;
  const char* at_ = buffer_.data();
  const char* end_ = buffer_.data();
  std::uint64_t position_ = 0;  // of the current block in the text
  std::uint64_t token_at_ = 0;
  bool too_long_ = false;
};

/// Views are valid during the call. A function returns false to end the parsing.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual bool on_null() = 0;
  virtual bool on_bool(bool value) = 0;
  virtual bool on_number(std::string_view as_written) = 0;
  virtual bool on_string(std::string_view decoded) = 0;
  virtual bool on_key(std::string_view decoded) = 0;
  virtual bool on_open(char bracket) = 0;
  /// `bracket`: '}' or ']'. The stream is still before it.
  virtual bool on_close(char bracket) = 0;
};

/// Parses one JSON value without recursion. Reads over what JsonRepair names, and counts it. Returns "" on success,
/// else an error. A handler that ends the parsing is an error, too. Leaves the stream behind the value or at the error.
/// `before`: tokens that come before the stream's text.
std::string parse_json_stream(JsonStream& stream, JsonHandler& handler, JsonRepairs& repairs,
                              std::string_view before = {});
/// Takes the bytes behind the value, and counts those that are no white space.
void count_rest(JsonStream& stream, JsonRepairs& repairs);

}  // namespace profshim
