#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "profshim/base/text/message_text.h"
#include "profshim/spec.h"
#include "spec/schema/parts.h"

namespace profshim {
namespace {

using Json = nlohmann::json;

bool matches(std::string_view pattern, const std::string& text) {
  return std::regex_search(text, std::regex(std::string(pattern)));
}

std::string known_keys_of(const std::string& table) {
  const LoadedSpec loaded = load_spec_text("version = 1\n[[" + table + "]]\nqqqqqqqqqq = 1\n", "x");
  const std::string hint = loaded.problems.at(0).hint;
  return hint.substr(hint.find(": ") + 2);
}

std::string sorted_names(std::string list) {
  std::vector<std::string> names;
  std::istringstream words(std::regex_replace(list, std::regex(","), " "));
  for (std::string word; words >> word;) names.push_back(word);
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + " ";
  return out;
}

std::string names_of(const Json& properties) {
  std::string out;
  for (const auto& [name, schema] : properties.items()) out += name + " ";
  return out;
}

TEST(Schema, HasEveryKeyWithItsSentenceAndRefusesOthers) {
  const Json schema = Json::parse(spec_schema());

  EXPECT_EQ(schema.at("additionalProperties"), false);
  std::size_t keys = 0;
  for (const auto& [name, member] : schema.at("properties").items()) {
    const bool is_table = member.at("type") == "object";
    if (is_table) {
      EXPECT_EQ(member.at("additionalProperties"), false) << name;
    }
    keys += is_table ? member.at("properties").size() : 1;
  }
  EXPECT_EQ(keys, spec_keys().size());
  for (const KeyInfo& key : spec_keys()) {
    const std::string name(key.name);
    const std::size_t dot = name.find('.');
    const Json* at = &schema.at("properties");
    if (dot != std::string::npos) at = &at->at(name.substr(0, dot)).at("properties");
    const Json& found = at->at(dot == std::string::npos ? name : name.substr(dot + 1));
    EXPECT_TRUE(found.at("description").get<std::string>().starts_with(key.sentence)) << name;
  }
}

TEST(Schema, PhasesAndRulesHaveTheKeysThatTheLoaderKnows) {
  const Json properties = Json::parse(spec_schema()).at("properties");

  EXPECT_EQ(names_of(properties.at("phase").at("items").at("properties")), sorted_names(known_keys_of("phase")));
  EXPECT_EQ(names_of(properties.at("check").at("properties").at("rule").at("items").at("properties")),
            sorted_names(known_keys_of("check.rule")));
}

TEST(Schema, ThePatternOfSizesIsTheGrammarOfSizes) {
  for (const char* text :
       {"0",  "2GiB", "1.5 GiB", " 512MB ", "3B",  "7kB",   "7KB",          "2TB", "1KiB", "1MiB", "1TiB",
        "4K", "4M",   "4G",      "2 gigs",  "GiB", "1.GiB", "1.2345678GiB", "-1",  "1 2",  "2gib", ""}) {
    std::uint64_t bytes = 0;
    EXPECT_EQ(matches(spec::size_pattern(), text), parse_size(text, bytes)) << text;
  }
}

TEST(Schema, ThePatternOfRanksAcceptsEveryExpression) {
  for (const char* text :
       {"0", "0,8-15", "0-15/4", "all", "last", "every:8", "local:0", "node:0-1", "node:(0,2-3)", "local: ( 0 , 1 )",
        "host:gpu*", "host:n[!0-3]x", "role:actor", "node:0 & local:0-3, !7", "!(all & !(0,1)) , last", " 3 "}) {
    RankExpression ranks;
    std::string message;
    int column = 0;
    ASSERT_TRUE(ranks.parse(text, message, column)) << text << ": " << message;
    EXPECT_TRUE(matches(spec::rank_pattern(), text)) << text;
  }
  for (const char* text : {"", "al", "every:0", "nod:1", "tp:0", "0 1", "0,", "& 1", "local:", "1-", "host:", "a-b"})
    EXPECT_FALSE(matches(spec::rank_pattern(), text)) << text;
}

TEST(Schema, ThePatternOfStepsIsTheGrammarOfSteps) {
  for (const char* text : {"3", "5-7", "1, 4-6", "[1,2]", " [ 1 ] ", "two", "-1", "5-", "1,,2", "", "1 2", "5 - 7"}) {
    const std::string spec = "version = 1\nschedule.steps = \"" + std::string(text) + "\"\n";
    EXPECT_EQ(matches(spec::step_pattern(), text), load_spec_text(spec, "x").ok()) << text;
  }
}

}  // namespace
}  // namespace profshim
