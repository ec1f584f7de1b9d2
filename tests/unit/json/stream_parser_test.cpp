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
  JsonRepairs repairs;
};

Parsed parse(std::string_view text, std::size_t piece = 1) {
  JsonStream stream([&](char* data, std::size_t size) {
    const std::size_t n = std::min({piece, size, text.size()});
    std::memcpy(data, text.data(), n);
    text.remove_prefix(n);
    return n;
  });
  Tokens tokens;
  JsonRepairs repairs;
  const std::string error = parse_json_stream(stream, tokens, repairs);
  if (error.empty()) count_rest(stream, repairs);
  return {tokens.text, error, stream.position(), stream.at_end(), repairs};
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
  EXPECT_EQ(parse(R"({"a" 1})", 100).position, 5u);
  EXPECT_NE(parse(R"({"a" 1})").error, "");
  EXPECT_NE(parse("[1").error, "");
}

struct Repaired {
  std::string_view text, tokens;
  JsonRepair kind;
  std::uint64_t count, first;
};

TEST(StreamParser, ReadsOverOddBytesWhereverThePiecesEnd) {
  using enum JsonRepair;
  for (const Repaired& one : {
           Repaired{"\xef\xbb\xbf[1]", "[ 1 ] ", kByteOrderMark, 1, 0},
           Repaired{"[\"a\nb\tc\"]", "[ a\nb\tc ] ", kControlCharacter, 2, 3},
           Repaired{"{\"a\x01\": 1}", "{ a\x01 1 } ", kControlCharacter, 1, 3},
           Repaired{"[\"a\xff\xc3(\"]", "[ a\xef\xbf\xbd\xef\xbf\xbd( ] ", kNotUtf8, 2, 3},
           Repaired{"[\"\xe2\x82\"]", "[ \xef\xbf\xbd\xef\xbf\xbd ] ", kNotUtf8, 2, 2},
           Repaired{"[\"\xed\xa0\x80\"]", "[ \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ] ", kNotUtf8, 3, 2},
           Repaired{R"(["a\ud800b"])",
                    "[ a\xef\xbf\xbd"
                    "b ] ",
                    kLoneSurrogate, 1, 3},
           Repaired{R"(["\udc00\ud800\n"])", "[ \xef\xbf\xbd\xef\xbf\xbd\n ] ", kLoneSurrogate, 2, 2},
           Repaired{R"(["\ud800\ud83d\ude00"])", "[ \xef\xbf\xbd\xf0\x9f\x98\x80 ] ", kLoneSurrogate, 1, 2},
           Repaired{R"(["C:\Users\x\u12"])", R"([ C:\Users\x\u12 ] )", kBackslash, 3, 4},
           Repaired{"[1, 2,]", "[ 1 2 ] ", kComma, 1, 5},
           Repaired{"{\"a\": 1 ,, \"b\": 2, }", "{ a 1 b 2 } ", kComma, 2, 8},
           Repaired{"[NaN, -Infinity, inf, 1e999, 1e-999]", "[ null null null null 1e-999 ] ", kNotFinite, 4, 1},
           Repaired{std::string_view("[1,\0 2]", 7), "[ 1 2 ] ", kNulByte, 1, 3},
           Repaired{std::string_view("[1] \0x{", 7), "[ 1 ] ", kBehindTheEnd, 3, 4},
       }) {
    for (const std::size_t piece : {1, 2, 3, 5, 7, 100}) {
      const Parsed parsed = parse(one.text, piece);
      EXPECT_EQ(parsed.error, "") << one.text;
      EXPECT_EQ(parsed.tokens, one.tokens) << one.text << ' ' << piece;
      EXPECT_EQ(parsed.repairs[one.kind].count, one.count) << one.text << ' ' << piece;
      EXPECT_EQ(parsed.repairs[one.kind].first, one.first) << one.text << ' ' << piece;
    }
  }
}

TEST(StreamParser, ChangesNothingInStrictJson) {
  constexpr std::string_view kText =
      R"({"\u0000\ud83d\ude00": ["é€😀", "\"\\\/\b\f\n\r\t", -0.5e+3, true, [], {}, ""], "": [1, [2, {"a": null}]]})";
  for (const std::size_t piece : {1, 2, 3, 5, 7, 100}) {
    const Parsed parsed = parse(kText, piece);
    EXPECT_EQ(parsed.error, "");
    for (std::size_t kind = 0; kind < kJsonRepairs; ++kind)
      EXPECT_EQ(parsed.repairs[static_cast<JsonRepair>(kind)].count, 0u) << kind << ' ' << piece;
    EXPECT_EQ(parsed.tokens, parse(kText).tokens);
  }
}

TEST(StreamParser, Utf16IsSaidInOneLine) {
  for (const std::string_view text : {std::string_view("\xff\xfe[\0]\0", 6), std::string_view("\0[\0]", 4)}) {
    const Parsed parsed = parse(text, 100);
    EXPECT_NE(parsed.error.find("UTF-16"), std::string::npos) << parsed.error;
  }
}

TEST(StreamParser, EndsIfTheHandlerSaysSo) {
  const Parsed parsed = parse(R"({"stop": 1, "a": 2})");
  EXPECT_EQ(parsed.tokens, "{ stop ");
  EXPECT_NE(parsed.error, "");
}

}  // namespace
}  // namespace profshim
