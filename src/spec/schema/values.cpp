#include <string>

#include "parts.h"

namespace profshim::spec {
namespace {

constexpr std::string_view kPlainText = R"(^[^\x00-\x1f\x7f]*$)";
constexpr std::int64_t kLongestText = 4096, kLongestList = 4096;

void write_type(JsonWriter& json, std::string_view type) { json.member("type", type); }

void write_text(JsonWriter& json) {
  write_type(json, "string");
  json.member("maxLength", kLongestText).member("pattern", kPlainText);
}

void write_pattern(JsonWriter& json, std::string_view pattern) {
  write_type(json, "string");
  json.member("maxLength", kLongestText).member("pattern", pattern);
}

void write_integer(JsonWriter& json, std::int64_t least, std::int64_t most) {
  write_type(json, "integer");
  json.member("minimum", least).member("maximum", most);
}

/// The other spellings of booleans that a spec may have.
void write_boolean_words(JsonWriter& json) {
  json.open_object().key("enum").open_list().value(0).value(1);
  for (const char* word : {"1", "true", "yes", "on", "0", "false", "no", "off"}) json.value(word);
  json.close_list().close_object();
}

void write_boolean(JsonWriter& json) {
  json.open_object();
  write_type(json, "boolean");
  json.close_object();
  write_boolean_words(json);
}

void write_words(JsonWriter& json, const Accepts& accepts) {
  write_type(json, "array");
  json.member("maxItems", kLongestList).member("minItems", accepts.or_none ? 0 : 1);
  json.key("items").open_object().list("enum", accepts.words).close_object();
  if (accepts.needed_word.empty()) return;
  json.key("contains").open_object().member("const", accepts.needed_word).close_object();
}

void write_word(JsonWriter& json, const Accepts& accepts) {
  if (!accepts.or_boolean) {
    json.list("enum", accepts.words);
    return;
  }
  json.key("anyOf").open_list();
  json.open_object().list("enum", accepts.words).close_object();
  write_boolean(json);
  json.close_list();
}

void write_size(JsonWriter& json, std::int64_t least) {
  json.key("anyOf").open_list().open_object();
  write_pattern(json, size_pattern());
  json.close_object().open_object();
  write_integer(json, least, std::int64_t{1} << 60);
  json.close_object().close_list();
}

void write_steps(JsonWriter& json) {
  json.key("anyOf").open_list().open_object();
  write_pattern(json, step_pattern());
  json.close_object().open_object();
  write_type(json, "array");
  json.member("maxItems", kLongestList).key("items").open_object().key("anyOf").open_list().open_object();
  write_integer(json, 0, kLargestNumber);
  json.close_object().open_object();
  write_pattern(json, step_pattern());
  json.close_object().close_list().close_object().close_object().close_list();
}

}  // namespace

std::string_view size_pattern() {
  return R"(^[ \t]*[0-9]+(\.[0-9]{1,6})?[ \t]*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB|K|M|G)?[ \t]*$)";
}

std::string_view rank_pattern() {
  static const std::string& kPattern = *[] {
    const std::string range = "[0-9]+(-[0-9]+(/[0-9]+)?)?";
    const std::string list = R"([ \t]*\([ \t]*)" + range + R"(([ \t]*,[ \t]*)" + range + R"()*[ \t]*\))";
    const std::string term = "(all|last|every:0*[1-9][0-9]*|(local|node):(" + range + "|" + list +
                             R"()|(host|role):(\[[^\]]*\]?|[^\[,&!() \t])+|)" + range + ")";
    const std::string one = R"([ \t!(]*)" + term + R"([ \t)]*)";
    return new std::string("^" + one + "([,&]" + one + ")*$");
  }();
  return kPattern;
}

std::string_view step_pattern() {
  return R"(^[ \t]*(\[[ \t]*)?[0-9]+(-[0-9]+)?([ \t]*,[ \t]*[0-9]+(-[0-9]+)?)*([ \t]*\])?[ \t]*$)";
}

void write_values(JsonWriter& json, const Accepts& accepts, bool may_be_empty) {
  using Kind = Accepts::Kind;
  switch (accepts.kind) {
    case Kind::kText:
      return write_text(json);
    case Kind::kTexts:
      write_type(json, "array");
      json.member("maxItems", kLongestList).key("items").open_object();
      write_text(json);
      json.close_object();
      return;
    case Kind::kWord:
      return write_word(json, accepts);
    case Kind::kWords:
      return write_words(json, accepts);
    case Kind::kBoolean:
      json.key("anyOf").open_list();
      write_boolean(json);
      json.close_list();
      return;
    case Kind::kInteger:
      return write_integer(json, accepts.least, accepts.most);
    case Kind::kPositive:
      write_type(json, "number");
      json.member("exclusiveMinimum", 0).member("maximum", accepts.most);
      return;
    case Kind::kNumber:
      write_type(json, "number");
      json.member("minimum", 0);
      return;
    case Kind::kSize:
      return write_size(json, accepts.least);
    case Kind::kRanks:
      return write_pattern(json, (may_be_empty ? "^$|" : "") + std::string(rank_pattern()));
    case Kind::kSteps:
      return write_steps(json);
    case Kind::kTables:
      return;
  }
}

}  // namespace profshim::spec
