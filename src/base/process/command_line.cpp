#include "profshim/base/command_line.h"

#include <algorithm>
#include <array>

#include "proc_text.h"
#include "profshim/base/files.h"

namespace profshim {
namespace {

constexpr std::string_view kMask = "***";

/// Returns "api-key" for "logger.api_key" or "--api-key".
std::string plain_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of("-+"), name.size()));
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string plain(name);
  for (char& c : plain) {
    if (c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return plain;
}

bool ends_in(const std::string& name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  return name.size() == word.size() || name[name.size() - word.size() - 1] == '-';
}

bool names_a_secret(std::string_view name, bool is_option) {
  static constexpr std::array<std::string_view, 4> kAnywhere = {"secret", "password", "passwd", "passphrase"};
  static constexpr std::array<std::string_view, 13> kAtTheEnd = {
      "token", "api-key",     "apikey",     "access-key", "private-key", "auth-key",     "encryption-key",
      "auth",  "credentials", "credential", "pwd",        "pass",        "authorization"};
  const std::string plain = plain_name(name);
  const auto has = [&](std::string_view word) { return plain.find(word) != std::string::npos; };
  const auto is = [&](std::string_view word) { return ends_in(plain, word); };
  if (std::any_of(kAnywhere.begin(), kAnywhere.end(), has)) return true;
  if (std::any_of(kAtTheEnd.begin(), kAtTheEnd.end(), is)) return true;
  // A variable like WANDB_API_KEY is a secret, but an option may be a sort or index key.
  return !is_option && plain.size() > 4 && ends_in(plain, "key");
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '+';
  });
}

void mask_url(std::string& text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t end = std::min(text.find_first_of("/?# '\"", at + 3), text.size());
    const std::size_t host = text.rfind('@', end);
    const std::size_t colon = text.find(':', at + 3);
    if (host == std::string::npos || host < at + 3 || colon == std::string::npos || colon > host) continue;
    text.replace(colon + 1, host - colon - 1, kMask);
  }
}

class Masker {
 public:
  std::string mask(const std::string& argument) {
    if (value_follows_ && !argument.starts_with("--")) {
      value_follows_ = false;
      return std::string(kMask);
    }
    // A script for `sh -c` holds several words.
    std::string out;
    for (std::size_t at = 0; at < argument.size();) {
      const std::size_t end = end_of_word(argument, at);
      out += masked_word(argument.substr(at, end - at));
      if (end < argument.size()) out += argument[end];
      at = end + 1;
    }
    return out;
  }

 private:
  std::size_t end_of_word(const std::string& text, std::size_t begin) const {
    std::size_t at = begin;
    for (; at < text.size() && std::string_view(" \t\n;").find(text[at]) == std::string_view::npos; ++at) {
      const bool is_quote = text[at] == '"' || text[at] == '\'';
      const bool begins_value = at == begin ? value_follows_ : text[at - 1] == '=';
      const std::size_t end = is_quote && begins_value ? text.find(text[at], at + 1) : std::string::npos;
      if (end != std::string::npos) at = end;
    }
    return at;
  }

  std::string masked_word(std::string word) {
    if (word.empty()) return word;
    if (value_follows_ && !word.starts_with("--")) {
      // In "Authorization: Bearer X" the secret follows the scheme.
      value_follows_ = plain_name(word) == "bearer" || plain_name(word) == "basic";
      return value_follows_ ? word : std::string(kMask);
    }
    const std::size_t first = std::min(word.find_first_not_of("'\"("), word.size());
    const std::size_t separator = std::min(word.find_first_of("=:", first), word.size());
    const bool is_option = first < word.size() && word[first] == '-';
    const std::string name = word.substr(first, separator - first);
    value_follows_ = false;
    if (is_name(name) && names_a_secret(name, is_option)) {
      const bool has_value = separator + 1 < word.size();
      if (has_value) return word.substr(0, separator + 1) + std::string(kMask);
      value_follows_ = separator < word.size() ? word[separator] == ':' : is_option;
    } else if (separator == word.size()) {
      value_follows_ = plain_name(name) == "bearer";
    }
    mask_url(word);
    return word;
  }

  bool value_follows_ = false;
};

}  // namespace

std::vector<std::string> process_arguments() { return read_proc_texts("/proc/self/cmdline"); }

std::string command_line() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/self/cmdline", text, error)) return {};
  while (!text.empty() && text.back() == 0) text.pop_back();
  for (char& c : text) {
    if (c == 0) c = ' ';
  }
  return text;
}

std::string program_name() { return program_name_of(process_arguments()); }

namespace {

constexpr std::string_view kRay = "ray::";

// Ray titles its workers "ray::Class.method" or "ray::function".
std::string class_in(const std::string& title) {
  return title.substr(kRay.size(), title.find_first_of(".(", kRay.size()) - kRay.size());
}

}  // namespace

std::string role_of_title(const std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments[0].starts_with(kRay)) return {};
  const std::string role = class_in(arguments[0]);
  return role == "IDLE" ? std::string{} : role;
}

std::string program_name_of(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].empty()) return "program";
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (arguments[0].starts_with(kRay)) {
    const std::string actor = class_in(arguments[0]);
    return actor.empty() ? "ray" : actor;
  }
  const std::string first = base(arguments[0]);
  const bool is_interpreter =
      first.starts_with("python") || first == "bash" || first == "sh" || first.starts_with("perl");
  for (std::size_t i = 1; is_interpreter && i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-c" || argument == "-e") break;
    if (argument == "-m" && i + 1 < arguments.size()) return arguments[i + 1];
    if (argument.empty() || argument[0] == '-') continue;
    const std::string script = base(argument);
    const std::size_t dot = script.rfind('.');
    return dot == std::string::npos || dot == 0 ? script : script.substr(0, dot);
  }
  return first;
}

std::string shown_command_line(const std::vector<std::string>& arguments, bool all) {
  std::string shown;
  Masker masker;
  for (std::size_t i = 0; i < arguments.size() && (all || i == 0); ++i) {
    shown += (i > 0 ? " " : "") + masker.mask(arguments[i]);
  }
  return shown;
}

}  // namespace profshim
