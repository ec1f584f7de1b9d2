// Bytes of a trace for RapidJSON's parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "byte_source.h"
#include "plain_event.h"

namespace profshim::trace_detail {

inline constexpr std::size_t kBufferBytes = 256 * 1024;
inline constexpr std::uint64_t kMaxTokenBytes = 64ull << 20;

/// RapidJSON's stream concept over a ByteSource. A zero byte ends the text for RapidJSON, so a buffer ends with one.
class JsonStream {
 public:
  using Ch = char;
  JsonStream(ByteSource& source, const std::function<void(std::string_view)>& tap)
      : source_(source), tap_(tap), buffer_(kBufferBytes + kPlainMargin) {
    refill();
  }

  char Peek() const { return *at_; }
  char Take() {
    const char c = *at_;
    if (at_ < end_ && ++at_ == end_) refill();
    return c;
  }
  std::size_t Tell() const { return static_cast<std::size_t>(position_ + static_cast<std::uint64_t>(at_ - begin())); }

  // RapidJSON calls these only when it parses in place, which the reader does not do.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

  /// Says that a token is complete: the limit on the length of the next one counts from here.
  void token_done() { token_at_ = Tell(); }
  bool at_end() const { return at_ == end_; }

  /// Returns the bytes in memory from here on. Behind them are a zero and kPlainMargin - 1 more readable bytes.
  std::string_view ahead() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// Moves to a place in ahead(), in front of its end, behind a whole token.
  void skip_to(const char* place) {
    at_ = place;
    token_done();
  }
  bool token_too_long() const { return too_long_; }

 private:
  const char* begin() const { return buffer_.data(); }
  void refill() {
    position_ += static_cast<std::uint64_t>(end_ - begin());
    too_long_ = position_ - token_at_ > kMaxTokenBytes;
    const std::size_t n = too_long_ ? 0 : source_.read(buffer_.data(), kBufferBytes);
    at_ = begin();
    end_ = begin() + n;
    buffer_[n] = '\0';
    if (n > 0 && tap_) tap_({begin(), n});
  }

  ByteSource& source_;
  const std::function<void(std::string_view)>& tap_;
  std::vector<char> buffer_;
  const char* at_ = buffer_.data();
  const char* end_ = buffer_.data();
  std::uint64_t position_ = 0;  // of the start of the buffer
  std::uint64_t token_at_ = 0;
  bool too_long_ = false;
};

}  // namespace profshim::trace_detail
