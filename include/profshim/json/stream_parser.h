// Parses a JSON text of any size as a stream: passes each token to a handler and never holds more than one. The trace
// reader uses it. Tool and writer thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// The bytes of a text in order, some hundred KiB of them in memory.
class JsonStream {
 public:
  /// Reads up to `size` bytes and returns how many there were; 0 = end of the text.
  using Read = std::function<std::size_t(char* data, std::size_t size)>;
  /// Number of readable bytes behind ahead(); the first of them is a zero.
  static constexpr std::size_t kMargin = 64;

  explicit JsonStream(Read read) : read_(std::move(read)), buffer_(kBufferBytes + kMargin) { refill(); }
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  /// Returns the position in the text.
  std::uint64_t position() const { return position_ + static_cast<std::uint64_t>(at_ - begin()); }
  bool at_end() const { return at_ == end_; }
  /// Returns the bytes in memory from here on.
  std::string_view ahead() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// Moves to a place in ahead(), in front of its end, behind a whole token. A handler may call it in close(): it then
  /// reads values itself that the parser does not see. The parser must find the bracket that it was about to take.
  void skip_to(const char* place) {
    at_ = place;
    token_done();
  }
  /// Says that a token is complete: the limit on the length of the next one counts from here.
  void token_done() { token_at_ = position(); }
  /// Returns true if the text was cut off because a token, or a gap between tokens, is longer than 64 MiB.
  bool token_too_long() const { return too_long_; }

  // For the parser. A zero byte ends the text for it, so the bytes in memory end with one.
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
  std::uint64_t position_ = 0;  // of the start of the buffer
  std::uint64_t token_at_ = 0;
  bool too_long_ = false;
};

/// Receives the tokens of a text in order; their views are valid during the call. A call that returns false ends the
/// parsing.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual bool on_null() = 0;
  virtual bool on_bool(bool value) = 0;
  virtual bool on_number(std::string_view as_written) = 0;
  virtual bool on_string(std::string_view decoded) = 0;
  virtual bool on_key(std::string_view decoded) = 0;
  /// `bracket`: '{' or '['.
  virtual bool on_open(char bracket) = 0;
  /// `bracket`: '}' or ']'. The stream stands in front of the bracket.
  virtual bool on_close(char bracket) = 0;
};

/// Parses one JSON value: not recursively, with UTF-8 checked. Returns "", or why the text is not JSON, or that the
/// handler ended the parsing. The stream then stands at the end of the value or at the error.
std::string parse_json_stream(JsonStream& stream, JsonHandler& handler);

}  // namespace profshim
