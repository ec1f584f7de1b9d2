#include "secrets.h"

#include <algorithm>
#include <array>
#include <utility>

namespace profshim {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr auto kNone = std::string_view::npos;

constexpr bool is_one_of(char c, std::string_view set) { return set.find(c) != kNone; }
constexpr bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || is_one_of(c, "_-.+");
}

/// Replaces the password of "https://user:password@host".
void mask_url_passwords(std::string& text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t end = std::min(text.find_first_of("/?# '\"", at + 3), text.size());
    const std::size_t host = text.rfind('@', end);
    const std::size_t colon = text.find(':', at + 3);
    if (host == std::string::npos || host < at + 3 || colon == std::string::npos || colon > host) continue;
    text.replace(colon + 1, host - colon - 1, kMask);
  }
}

/// Options of some programs that hold a secret under a short name. `attached`: as in "-pX".
struct ProgramOption {
  std::string_view program, option;
  bool attached, separate, user_and_password;
};
constexpr std::array<ProgramOption, 19> kProgramOptions = {{
    {"mysql", "-p", true, false, false},        {"mysqldump", "-p", true, false, false},
    {"mysqladmin", "-p", true, false, false},   {"mariadb", "-p", true, false, false},
    {"mariadb-dump", "-p", true, false, false}, {"7z", "-p", true, false, false},
    {"7za", "-p", true, false, false},          {"sshpass", "-p", true, true, false},
    {"zip", "-P", false, true, false},          {"unzip", "-P", false, true, false},
    {"mongo", "-p", false, true, false},        {"mongosh", "-p", false, true, false},
    {"mongodump", "-p", false, true, false},    {"redis-cli", "-a", false, true, false},
    {"curl", "-u", false, false, true},         {"curl", "--user", false, false, true},
    {"curl", "-U", false, false, true},         {"curl", "--proxy-user", false, false, true},
    {"wget", "--user", false, false, true},
}};

bool is_known_program(std::string_view name) {
  return std::any_of(kProgramOptions.begin(), kProgramOptions.end(),
                     [&](const ProgramOption& row) { return row.program == name; });
}

const ProgramOption* find_option(std::string_view program, std::string_view option) {
  const auto found = std::find_if(kProgramOptions.begin(), kProgramOptions.end(), [&](const ProgramOption& row) {
    return row.program == program && (row.option == option || (row.attached && option.starts_with(row.option)));
  });
  return found != kProgramOptions.end() ? &*found : nullptr;
}

/// True for "-pX". False for "-p22", "-p8080:80", "-pthread" and "-pc_type": a number or the name of an option.
bool looks_like_password_option(std::string_view word) {
  if (!word.starts_with("-p") || word.size() < 3) return false;
  const std::string_view value = word.substr(2);
  const std::size_t name = value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-");
  return value.find_first_not_of("0123456789:.,-/") != kNone && name != kNone && value[name] != '=';
}

}  // namespace

/// One pass over one argument, which may be a script of several words, JSON, or a URL.
class SecretMasker::Scan {
 public:
  Scan(std::string_view text, SecretMasker& masker) : text_(text), masker_(masker) {}

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (masker_.next_ != Next::kNothing && !is_one_of(c, kSpaces)) {
        take_value();
      } else if (c == '-' && begins_word() && is_password_option()) {
        copy(2);
        mask_until(at_end_of_argument() ? text_.size() : end_of_word());
      } else if (is_name(c)) {
        take_name();
      } else {
        note(c);
        copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  bool follows(std::string_view set) const { return at_ == 0 || is_one_of(text_[at_ - 1], set); }
  bool begins_word() const { return follows(" \t\r\n;'\"("); }
  /// True at an option that has the rest of the argument for itself: not in a script.
  bool at_end_of_argument() const { return out_.size() <= 2 || text_.find_first_of(kSpaces) == kNone; }
  std::size_t end_of_word() const { return std::min(text_.find_first_of(" \t\r\n;", at_), text_.size()); }
  std::size_t end_of_name() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return end;
  }
  std::size_t skip(std::size_t at, std::string_view set) const {
    return std::min(text_.find_first_not_of(set, at), text_.size());
  }

  void copy(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
  }
  void mask_until(std::size_t end) {
    out_ += kMask;
    at_ = end;
  }

  void note(char c) {
    if (is_one_of(c, "{[")) ++depth_;
    if (is_one_of(c, "}]") && depth_ > 0) --depth_;
    if (is_one_of(c, "\"'") && (quote_ == 0 || quote_ == c)) quote_ = quote_ == 0 ? c : 0;
    if (is_one_of(c, "?&")) in_query_ = true;
    if (is_one_of(c, kSpaces)) in_query_ = false;
  }

  bool is_password_option() const {
    const std::string_view word = text_.substr(at_, end_of_word() - at_);
    const ProgramOption* const own = find_option(masker_.program_, word);
    return own != nullptr && own->attached ? word.size() > 2 : looks_like_password_option(word);
  }

  /// Returns the end of the quoted text, list or object that begins here; npos = none does.
  std::size_t end_of_enclosed() const {
    const std::size_t first = skip(at_, "\\");
    if (first == text_.size()) return kNone;
    const char begin = text_[first];
    if (is_one_of(begin, "[{")) {
      const std::size_t end = text_.find(begin == '[' ? ']' : '}', first);
      return end != kNone ? end + 1 : kNone;
    }
    if (!is_one_of(begin, "\"'")) return kNone;
    const bool is_escaped = first > at_;
    for (std::size_t end = first + 1; end < text_.size(); ++end) {
      if (text_[end] == begin && (is_escaped || text_[end - 1] != '\\')) return end + 1;
    }
    return kNone;
  }

  /// Returns the end of the value that begins here: something enclosed, a parameter of a URL, a member of JSON, or a
  /// word.
  std::size_t end_of_value() const {
    if (const std::size_t end = end_of_enclosed(); end != kNone) return end;
    std::string ends = in_query_ ? "&#;\"' \t\r\n" : depth_ > 0 ? ",}] \t\r\n" : " \t\r\n;";
    if (quote_ != 0) ends += quote_;
    return std::min(text_.find_first_of(ends, at_), text_.size());
  }

  void take_value() {
    const Next what = std::exchange(masker_.next_, Next::kNothing);
    if (text_.substr(at_).starts_with("--")) return;
    if (what == Next::kUserAndPassword) return take_user();
    // In "Authorization: Bearer X" the secret follows the scheme.
    if (const std::string_view word = text_.substr(at_, end_of_name() - at_); is_scheme(word)) {
      copy(word.size());
      masker_.next_ = Next::kSecret;
    } else {
      mask_until(end_of_value());
    }
  }

  void take_user() {
    const std::size_t end = end_of_value();
    const std::size_t colon = text_.find(':', at_);
    if (colon < end) {
      copy(colon + 1 - at_);
      mask_until(end);
    } else {
      copy(end - at_);
    }
  }

  static bool is_scheme(std::string_view word) {
    static constexpr std::array<std::string_view, 5> kSchemes = {"Bearer", "bearer", "Basic", "basic", "token"};
    return std::find(kSchemes.begin(), kSchemes.end(), word) != kSchemes.end();
  }

  void take_name() {
    const std::string_view name = text_.substr(at_, end_of_name() - at_);
    const bool is_first = at_ == 0, is_word = begins_word();
    if (const std::size_t known = token_prefix(name); known > 0) {
      copy(known);
      return mask_until(at_ - known + name.size());
    }
    if (follows(" \t\r\n;'\"(/") && is_known_program(name)) masker_.program_ = name_of_program(name);
    copy(name.size());
    const bool is_option = name[0] == '-';
    if (is_word && is_option) {
      if (const ProgramOption* const own = find_option(masker_.program_, name)) {
        if (own->separate) masker_.next_ = Next::kSecret;
        if (own->user_and_password) masker_.next_ = Next::kUserAndPassword;
        if (own->user_and_password && at_ < text_.size() && text_[at_] == '=') copy(1);
        return;
      }
    }
    const bool is_secret = in_query_ ? names_a_secret_parameter(name) : names_a_secret(name, is_option);
    if (is_secret && is_header(name) && text_.substr(at_).starts_with(":")) {
      take_header();
    } else if (is_secret) {
      take_separator(is_option, is_option && is_first);
    }
  }

  static bool is_header(std::string_view name) {
    static constexpr std::array<std::string_view, 4> kHeaders = {"Cookie", "Set-Cookie", "cookie", "set-cookie"};
    return std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end();
  }

  /// A header is the rest of its quoted text or argument.
  void take_header() {
    const std::size_t end = quote_ != 0 ? text_.find(quote_, at_) : kNone;
    copy(skip(at_, ": ") - at_);
    if (at_ < text_.size()) mask_until(std::min(end, text_.size()));
  }

  /// Behind the name of a secret: decides whether its value follows. `is_alone`: the rest of the argument is the value.
  void take_separator(bool is_option, bool is_alone) {
    const std::size_t separator = skip(skip(at_, "\\\"'"), kSpaces);
    const std::string_view rest = text_.substr(separator);
    if (!rest.empty() && is_one_of(rest[0], "=:") && !rest.starts_with("://") && !rest.starts_with("==")) {
      const bool is_colon = rest[0] == ':';
      copy(separator + 1 - at_);
      if (at_ == text_.size()) {
        if (is_colon) masker_.next_ = Next::kSecret;
      } else if (is_alone && separator == out_.size() - 1) {
        mask_until(text_.size());
      } else {
        masker_.next_ = Next::kSecret;
      }
    } else if (at_ == text_.size() || is_one_of(text_[at_], kSpaces)) {
      if (is_option || is_scheme_name()) masker_.next_ = Next::kSecret;
    }
  }

  bool is_scheme_name() const { return out_.ends_with("Bearer") || out_.ends_with("bearer"); }

  static std::string_view name_of_program(std::string_view name) {
    return std::find_if(kProgramOptions.begin(), kProgramOptions.end(),
                        [&](const auto& row) { return row.program == name; })
        ->program;
  }

  std::string_view text_;
  SecretMasker& masker_;
  std::string out_;
  std::size_t at_ = 0;
  int depth_ = 0;          // of braces and brackets
  char quote_ = 0;         // the open quotation mark
  bool in_query_ = false;  // behind '?' or '&'
};

std::string SecretMasker::mask(const std::string& argument) {
  if (next_ == Next::kSecret && !argument.starts_with("--")) {
    next_ = Next::kNothing;
    return std::string(kMask);
  }
  std::string text = argument;
  mask_url_passwords(text);
  return Scan(text, *this).run();
}

}  // namespace profshim
