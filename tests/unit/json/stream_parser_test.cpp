#include "profshim/json/stream_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace profshim {
namespace {

class Tokens final : public JsonHandler {
 public:
  bool on_null() override { return add("null"); }
  bool on_bool(bool value) override { return add(value ? "true" : "false"); }
  bool on_number(std::string_view as_written) override { return add(as_written); }
  bool on_string(std::string_view decoded) override { return add(decoded); }
  bool on_key(std::string_view decoded) override { return add(decoded) && decoded != "stop"; }
  bool on_open(char bracket) override { return add({&bracket, 1}); }
  bool on_close(char bracket) override { return add({&bracket, 1}); }

  std::string text;

 private:
  bool add(std::string_view token) {
    text += std::string(token) + ' ';
    return true;
  }
};

struct Parsed {
  std::string tokens, error;
  std::uint64_t position;
  bool at_end;
};

Parsed parse(std::string_view text, std::size_t piece = 1) {
  JsonStream stream([&](char* data, std::size_t size) {
    const std::size_t n = std::min({piece, size, text.size()});
    std::memcpy(data, text.data(), n);
    text.remove_prefix(n);
    return n;
  });
  Tokens tokens;
  const std::string error = parse_json_stream(stream, tokens);
  return {tokens.text, error, stream.position(), stream.at_end()};
}

TEST(StreamParser, PassesOnEveryTokenWhereverThePiecesEnd) {
  constexpr std::string_view kText = R"({"a": [1.50, -2e9, null], "b\n": {"c": true, "d": "\u00e9"}})";
  for (const std::size_t piece : {1, 2, 7, 100}) {
    const Parsed parsed = parse(kText, piece);
    EXPECT_EQ(parsed.tokens, "{ a [ 1.50 -2e9 null ] b\n { c true d \xc3\xa9 } } ");
    EXPECT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.position, kText.size());
    EXPECT_TRUE(parsed.at_end);
  }
}

TEST(StreamParser, SaysWhereTheTextIsNotJson) {
  EXPECT_EQ(parse(R"({"a" 1})").position, 5u);
  EXPECT_NE(parse(R"({"a" 1})").error, "");
  EXPECT_NE(parse("[\"\xff\"]").error, "");
  EXPECT_NE(parse("[1").error, "");
}

TEST(StreamParser, EndsIfTheHandlerSaysSo) {
  const Parsed parsed = parse(R"({"stop": 1, "a": 2})");
  EXPECT_EQ(parsed.tokens, "{ stop ");
  EXPECT_NE(parsed.error, "");
}

}  // namespace
}  // namespace profshim
