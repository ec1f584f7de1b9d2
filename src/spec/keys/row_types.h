#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/spec_keys.h"

namespace profshim::spec {

std::string texts_to_toml(const std::vector<std::string>& texts);

template <class Number>
KeyRow integer_row(std::string key, std::int64_t least, std::int64_t most, Number& (*member)(Spec&),
                   std::string_view sentence) {
  std::string values = std::to_string(least) + " to " + std::to_string(most);
  if (most == kLargestNumber) values = least == -kLargestNumber ? "any" : std::to_string(least) + " or more";
  auto store = [least, most, member, values](const Value& value, Spec& spec, Refusal& refusal) {
    std::int64_t number = 0;
    if (!read_integer(value, number, refusal)) {
      if (refusal.hint.empty() && values != "any") refusal.hint = "allowed: " + values;
      return false;
    }
    if (number < least || number > most) {
      const bool small = number < least;
      refusal = {std::to_string(number) + (small ? " is too small" : " is too large"), "allowed: " + values, 0, 0};
      if (!small && values.ends_with("more")) refusal.hint += ", up to 9007199254740992";
      // The TOML library returns the largest number for one beyond 64 bits.
      if (number == std::numeric_limits<std::int64_t>::max()) refusal.message = "the number is too large";
      return false;
    }
    member(spec) = static_cast<Number>(number);
    return true;
  };
  auto print = [member](const Spec& spec) { return std::to_string(member(const_cast<Spec&>(spec))); };
  return {std::move(key), "whole number", values, "", sentence,
          store,          print,          {},     {}, {Accepts::Kind::kInteger, least, most}};
}

KeyRow boolean_row(std::string key, bool& (*member)(Spec&), std::string_view sentence);

KeyRow text_row(std::string key, std::string type, std::string& (*member)(Spec&), std::string_view sentence,
                std::string (*check)(const std::string&) = nullptr);

KeyRow texts_row(std::string key, std::string type, std::vector<std::string>& (*member)(Spec&),
                 std::string_view sentence);

KeyRow size_row(std::string key, std::uint64_t least, std::uint64_t& (*member)(Spec&), std::string_view sentence);

template <class T>
struct Choice {
  std::string_view word;
  T value;
};
/// A word of another tool or version, and the hint for it.
struct Elsewhere {
  std::string_view word, hint;
};

std::string choice_hint(std::string_view text, const std::vector<std::string_view>& words,
                        const std::vector<Elsewhere>& elsewhere);

template <class T>
KeyRow choice_row(std::string key, std::vector<Choice<T>> choices, T& (*member)(Spec&), std::string_view sentence,
                  const std::vector<Elsewhere>& elsewhere = {}, bool boolean = false) {
  Accepts accepts = {.kind = Accepts::Kind::kWord, .or_boolean = boolean};
  std::vector<std::string_view>& words = accepts.words;
  std::string values;
  for (const Choice<T>& choice : choices) {
    words.push_back(choice.word);
    values += (values.empty() ? "" : ", ") + std::string(choice.word);
  }
  auto store = [=, words = words](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    bool flag = false;
    if (boolean && read_boolean(value, flag, refusal)) {
      text = flag ? "true" : "false";
    } else if (refusal = {}; !read_text(value, text, refusal)) {
      return false;
    }
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.word == text; });
    if (found == choices.end()) {
      refusal = {"unknown value " + quoted(text), choice_hint(text, words, elsewhere), 0, 0};
      return false;
    }
    member(spec) = found->value;
    return true;
  };
  auto print = [=](const Spec& spec) {
    const T& value = member(const_cast<Spec&>(spec));
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.value == value; });
    const std::string word(found == choices.end() ? choices.front().word : found->word);
    return boolean && (word == "true" || word == "false") ? word : toml_string(word);
  };
  return {std::move(key), "word", std::move(values), "", sentence, store, print, {}, {}, std::move(accepts)};
}

KeyRow with_short_forms(KeyRow row, std::string_view short_forms);
/// For a text with a form of its own.
KeyRow with_accepts(KeyRow row, Accepts accepts);

}  // namespace profshim::spec
