#include "profshim/json/document.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

TEST(JsonDocument, ValuesAreReadByKeyAndPlace) {
  const JsonDocument json(R"({"a": {"n": -3, "big": 18446744073709551615, "yes": true}, "list": ["x", 7], "a": 1})");
  const auto a = json.root().member("a");
  EXPECT_EQ(a.member("n").small_integer(0), -3);
  EXPECT_EQ(a.member("n").integer(0), -3);
  EXPECT_EQ(a.member("big").count(0), 18446744073709551615ull);
  EXPECT_TRUE(a.member("yes").truth());
  const auto list = json.root().member("list").elements();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].text(), "x");
  EXPECT_EQ(list[1].small_integer(0), 7);
}

TEST(JsonDocument, ValuesOfAnotherTypeAreAbsent) {
  const JsonDocument json(R"({"text": "7", "number": 4294967296, "negative": -1, "list": []})");
  const auto root = json.root();
  EXPECT_EQ(root.member("text").integer(5), 5);
  EXPECT_EQ(root.member("number").small_integer(5), 5);
  EXPECT_EQ(root.member("number").integer(5), 4294967296);
  EXPECT_EQ(root.member("negative").count(5), 5u);
  EXPECT_EQ(root.member("number").text(), "");
  EXPECT_FALSE(root.member("number").is_text());
  EXPECT_FALSE(root.member("text").truth());
  EXPECT_FALSE(root.member("list").is_object());
  EXPECT_TRUE(root.member("text").elements().empty());
  EXPECT_FALSE(root.member("none").member("none").is_object());
}

TEST(JsonDocument, ATextThatIsNotJsonHasNoRoot) {
  for (const char* const text : {"", "{", "{} {}", "{\"a\":}"})
    EXPECT_FALSE(JsonDocument(text).root().is_object()) << text;
}

}  // namespace
}  // namespace profshim
