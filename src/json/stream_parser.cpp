#include "profshim/json/stream_parser.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace profshim {
namespace {

constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;

class Bytes {
 public:
  using Ch = char;
  explicit Bytes(JsonStream& stream) : stream_(stream) {}
  char Peek() const { return stream_.peek(); }
  char Take() { return stream_.take(); }
  std::size_t Tell() const { return static_cast<std::size_t>(stream_.position()); }

  // RapidJSON calls these only when it parses in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  JsonStream& stream_;
};

class Tokens {
 public:
  explicit Tokens(JsonHandler& handler) : handler_(handler) {}
  bool Null() { return handler_.on_null(); }
  bool Bool(bool value) { return handler_.on_bool(value); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) { return handler_.on_number({text, size}); }
  bool String(const char* text, rapidjson::SizeType size, bool) { return handler_.on_string({text, size}); }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return handler_.on_key({text, size}); }
  bool StartObject() { return handler_.on_open('{'); }
  bool EndObject(rapidjson::SizeType) { return handler_.on_close('}'); }
  bool StartArray() { return handler_.on_open('['); }
  bool EndArray(rapidjson::SizeType) { return handler_.on_close(']'); }

  // Never called: numbers come as text (kParseNumbersAsStringsFlag).
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  JsonHandler& handler_;
};

}  // namespace

void JsonStream::refill() {
  position_ += static_cast<std::uint64_t>(end_ - begin());
  too_long_ = position_ - token_at_ > kMaxTokenBytes;
  const std::size_t n = too_long_ ? 0 : read_(buffer_.data(), kBufferBytes);
  at_ = begin();
  end_ = begin() + n;
  buffer_[n] = '\0';
}

std::string parse_json_stream(JsonStream& stream, JsonHandler& handler) {
  Bytes bytes(stream);
  Tokens tokens(handler);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(bytes, tokens);
  return parsed ? std::string() : rapidjson::GetParseError_En(parsed.Code());
}

}  // namespace profshim
