#include "profshim/json/stream_parser.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "repaired_text.h"

namespace profshim {
namespace {

// RepairedText validates the encoding, and looks at the bytes behind the value.
constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseNumbersAsStringsFlag;

bool is_utf16(std::string_view start) {
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) return true;
  return start.size() > 1 && (start[0] == '\0') != (start[1] == '\0');
}

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

std::string parse_json_stream(JsonStream& stream, JsonHandler& handler, JsonRepairs& repairs, std::string_view before) {
  if (stream.position() == 0 && is_utf16(stream.ahead()))
    return "the text is UTF-16: convert it, for example by iconv -f UTF-16 -t UTF-8";
  RepairedText text(stream, repairs, before);
  Tokens tokens(handler);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(text, tokens);
  return parsed ? std::string() : rapidjson::GetParseError_En(parsed.Code());
}

void count_rest(JsonStream& stream, JsonRepairs& repairs) {
  while (!stream.at_end()) {
    constexpr std::string_view kBlanks = " \n\r\t";
    if (kBlanks.find(stream.peek()) == std::string_view::npos)
      repairs.add(JsonRepair::kBehindTheEnd, stream.position());
    stream.take();
    stream.token_done();
  }
}

}  // namespace profshim
