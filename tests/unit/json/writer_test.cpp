#include "profshim/json/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "profshim/json.h"

namespace profshim {
namespace {

std::string object(const auto& fill, JsonWriter::Layout layout = JsonWriter::Layout::kSpaced) {
  JsonWriter json(layout);
  json.open_object();
  fill(json);
  return json.close_object().text();
}

TEST(JsonWriter, SeparatesMembersByLayout) {
  const auto fill = [](JsonWriter& json) { json.member("a", 1).member("b", "x\"y").member("c", true); };
  EXPECT_EQ(object(fill), R"({"a": 1, "b": "x\"y", "c": true})");
  EXPECT_EQ(object(fill, JsonWriter::Layout::kCompact), R"({"a":1,"b":"x\"y","c":true})");
}

TEST(JsonWriter, WritesListsOfNumbersAndTexts) {
  const std::string text = object([](JsonWriter& json) {
    json.list("none", std::vector<int>{}).list("numbers", std::vector<int>{1, -2});
    json.list("texts", std::vector<std::string>{"a", "\n"});
  });
  EXPECT_EQ(text, R"({"none": [], "numbers": [1, -2], "texts": ["a", "\n"]})");
}

TEST(JsonWriter, DoublesReadBackAndAreNullWhenNotFinite) {
  const std::string text = object([](JsonWriter& json) {
    json.member("whole", 3.0).member("part", 0.1).member("none", std::numeric_limits<double>::infinity());
  });
  EXPECT_EQ(text, R"({"whole": 3, "part": 0.10000000000000001, "none": null})");
  EXPECT_TRUE(valid_json(text));
}

TEST(JsonWriter, AnOptionalWithoutValueIsNull) {
  const std::string text = object(
      [](JsonWriter& json) { json.member("a", std::optional<double>()).member("b", std::optional<bool>(false)); });
  EXPECT_EQ(text, R"({"a": null, "b": false})");
}

TEST(JsonWriter, LineGoesInFrontOfMembersElementsAndBrackets) {
  JsonWriter json;
  json.open_list();
  for (int i = 0; i < 2; ++i) json.line(1).value(i);
  EXPECT_EQ(json.line(0).close_list().text(), "[\n 0,\n 1\n]");
}

TEST(JsonWriter, LineUnlessFirstKeepsTheFirstElementBesideTheBracket) {
  JsonWriter json;
  json.open_object().key("list").open_list();
  for (int i = 0; i < 3; ++i) json.line_unless_first(2).open_object().member("i", i).close_object();
  EXPECT_EQ(json.close_list().line(1).key("end").null().close_object().text(),
            "{\"list\": [{\"i\": 0},\n  {\"i\": 1},\n  {\"i\": 2}],\n \"end\": null}");
}

std::string sample(JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.open_object().member("a", 1).key("list").open_list().value("x").value(true).close_list();
  json.key("none").open_list().close_list().key("inner").open_object().member("b", -2).close_object();
  return json.close_object().text();
}

TEST(JsonWriter, EachLayoutHasItsBlanks) {
  EXPECT_EQ(sample(JsonWriter::Layout::kCompact), R"({"a":1,"list":["x",true],"none":[],"inner":{"b":-2}})");
  EXPECT_EQ(sample(JsonWriter::Layout::kSpaced), R"({"a": 1, "list": ["x", true], "none": [], "inner": {"b": -2}})");
  EXPECT_EQ(sample(JsonWriter::Layout::kIndented),
            "{\n \"a\": 1,\n \"list\": [\n  \"x\",\n  true\n ],\n \"none\": [],\n \"inner\": {\n  \"b\": -2\n }\n}");
}

TEST(JsonWriter, LinesAndDepthAreUpToTheCaller) {
  JsonWriter json;
  json.open_object().line(0).member("a", 1).line(2).key("b").open_list();
  EXPECT_EQ(json.text(), "{\n\"a\": 1,\n  \"b\": [");
  EXPECT_EQ(json.depth(), 2);
  EXPECT_EQ(json.close_list().close_object().depth(), 0);
}

TEST(JsonWriter, BytesThatAreNotUtf8AreReplacedInValuesAndKeptInBytes) {
  EXPECT_EQ(JsonWriter().value("a\xff\n").text(), "\"a\xef\xbf\xbd\\n\"");
  EXPECT_EQ(JsonWriter().bytes("a\xff\n").text(), "\"a\xff\\n\"");
}

}  // namespace
}  // namespace profshim
