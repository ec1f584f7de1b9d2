#include "row_types.h"

#include "profshim/base/text/message_text.h"

namespace profshim::spec {

std::string texts_to_toml(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + toml_string(text);
  return out + "]";
}

KeyRow boolean_row(std::string key, bool& (*member)(Spec&), std::string_view sentence) {
  auto store = [member](const Value& value, Spec& spec, Refusal& refusal) {
    return read_boolean(value, member(spec), refusal);
  };
  auto print = [member](const Spec& spec) { return std::string(member(const_cast<Spec&>(spec)) ? "true" : "false"); };
  return {std::move(key), "boolean", "true, false", "", sentence, store, print, {}, {}, {Accepts::Kind::kBoolean}};
}

KeyRow text_row(std::string key, std::string type, std::string& (*member)(Spec&), std::string_view sentence,
                std::string (*check)(const std::string&)) {
  auto store = [member, check](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    if (!read_text(value, text, refusal)) return false;
    if (check != nullptr) refusal.message = check(text);
    if (!refusal.message.empty()) return false;
    member(spec) = std::move(text);
    return true;
  };
  auto print = [member](const Spec& spec) { return toml_string(member(const_cast<Spec&>(spec))); };
  return {std::move(key), std::move(type), "any", "", sentence, store, print, {}, {}};
}

KeyRow texts_row(std::string key, std::string type, std::vector<std::string>& (*member)(Spec&),
                 std::string_view sentence) {
  auto store = [member](const Value& value, Spec& spec, Refusal& refusal) {
    return read_texts(value, member(spec), refusal);
  };
  auto print = [member](const Spec& spec) { return texts_to_toml(member(const_cast<Spec&>(spec))); };
  return {std::move(key),    std::move(type),        "any", "", sentence, store, print, {},
          Combine::kNameSet, {Accepts::Kind::kTexts}};
}

KeyRow size_row(std::string key, std::uint64_t least, std::uint64_t& (*member)(Spec&), std::string_view sentence) {
  auto store = [least, member](const Value& value, Spec& spec, Refusal& refusal) {
    std::uint64_t bytes = 0;
    if (!read_size(value, bytes, refusal)) return false;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
    if (bytes < least || bytes > kMost) {
      refusal.message = format_size(bytes) + (bytes < least ? " is too small" : " is too large");
      refusal.hint = "allowed: " + format_size(least) + (bytes < least ? " or more" : " to 1048576 TiB");
      return false;
    }
    member(spec) = bytes;
    return true;
  };
  auto print = [member](const Spec& spec) {
    const std::uint64_t bytes = member(const_cast<Spec&>(spec));
    for (const auto& [unit, name] : {std::pair{30, "GiB"}, std::pair{20, "MiB"}, std::pair{10, "KiB"}}) {
      const std::uint64_t size = std::uint64_t{1} << unit;
      if (bytes != 0 && bytes % size == 0) return toml_string(std::to_string(bytes / size) + name);
    }
    return std::to_string(bytes);
  };
  std::string values = least == 0 ? std::string("0 or more") : format_size(least) + " or more";
  return {std::move(key),
          "size",
          std::move(values),
          "",
          sentence,
          store,
          print,
          {},
          {},
          {Accepts::Kind::kSize, static_cast<std::int64_t>(least)}};
}

std::string choice_hint(std::string_view text, const std::vector<std::string_view>& words,
                        const std::vector<Elsewhere>& elsewhere) {
  const auto known =
      std::find_if(elsewhere.begin(), elsewhere.end(), [&](const Elsewhere& e) { return e.word == text; });
  if (known != elsewhere.end()) return std::string(known->hint);
  const std::string_view near = nearest(text, words);
  if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
  std::string hint = "allowed: ";
  for (const std::string_view word : words) hint += (word == words.front() ? "" : ", ") + std::string(word);
  return hint;
}

KeyRow with_short_forms(KeyRow row, std::string_view short_forms) {
  row.short_forms = short_forms;
  return row;
}

KeyRow with_accepts(KeyRow row, Accepts accepts) {
  row.accepts = std::move(accepts);
  return row;
}

}  // namespace profshim::spec
