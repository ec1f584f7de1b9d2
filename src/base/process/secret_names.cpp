#include <algorithm>
#include <array>
#include <string>

#include "secrets.h"

namespace profshim {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns "api-key" for "logger.api_key", "--api-key" or "apiKey".
std::string plain_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of("-+"), name.size()));
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (i > 0 && is_upper(c) && is_lower(name[i - 1])) plain += '-';
    plain += c == '_' ? '-' : is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

bool ends_in(const std::string& name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  return name.size() == word.size() || name[name.size() - word.size() - 1] == '-';
}

template <std::size_t N>
bool ends_in_any(const std::string& name, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return ends_in(name, word); });
}

// Prefixes of the tokens of services, as their documentation and GitHub's secret scanning list them.
constexpr std::array<std::string_view, 37> kTokenPrefixes = {
    "hf_",     "sk-",         "sk_live_", "sk_test_",  "rk_live_", "pk_live_", "ghp_",  "gho_",  "ghu_",  "ghs_",
    "ghr_",    "github_pat_", "glpat-",   "xoxb-",     "xoxp-",    "xoxa-",    "xoxs-", "xapp-", "AIza",  "AKIA",
    "ASIA",    "npm_",        "pypi-",    "dckr_pat_", "nvapi-",   "gsk_",     "xai-",  "r8_",   "glsa_", "shpat_",
    "dop_v1_", "tskey-",      "hvs.",     "dapi",      "SG.",      "ya29.",    "eyJ"};

/// True for "hf_aB3…" and "sk-proj-aB3…", false for "hf_trainer.py" and "sk-learn-pipeline".
bool is_random(std::string_view text) {
  std::size_t digits = 0, uppers = 0, run = 0, longest = 0;
  for (const char c : text) {
    digits += is_digit(c) ? 1 : 0;
    uppers += is_upper(c) ? 1 : 0;
    run = is_digit(c) || is_upper(c) || is_lower(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest >= 16 || (longest >= 10 && digits > 0) || (longest >= 8 && digits > 0 && uppers > 0);
}

}  // namespace

bool names_a_secret(std::string_view name, bool is_option) {
  static constexpr std::array<std::string_view, 4> kAnywhere = {"secret", "password", "passwd", "passphrase"};
  static constexpr std::array<std::string_view, 21> kAtTheEnd = {
      "token",       "api-key",    "apikey", "access-key",  "private-key",   "auth-key", "encryption-key",
      "account-key", "shared-key", "auth",   "credentials", "credential",    "pwd",      "pass",
      "signing-key", "master-key", "jwt",    "bearer",      "authorization", "cookie",   "sas"};
  const std::string plain = plain_name(name);
  const auto has = [&](std::string_view word) { return plain.find(word) != std::string::npos; };
  if (std::any_of(kAnywhere.begin(), kAnywhere.end(), has)) return true;
  return ends_in_any(plain, kAtTheEnd) || (!is_option && plain.size() > 4 && ends_in(plain, "key"));
}

bool names_a_secret_parameter(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kAtTheEnd = {"sig", "signature", "key", "code", "sid"};
  return names_a_secret(name, true) || ends_in_any(plain_name(name), kAtTheEnd);
}

std::size_t token_prefix(std::string_view word) {
  for (const std::string_view prefix : kTokenPrefixes) {
    if (word.starts_with(prefix) && is_random(word.substr(prefix.size()))) return prefix.size();
  }
  return 0;
}

}  // namespace profshim
