// Finds what looks like a secret in the arguments of a command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim {

/// True if a value of this name is a secret: "--api-key", "DB_PASSWORD", "clientSecret". `is_option`: an option may be
/// a sort or index key, a variable like WANDB_API_KEY is a secret.
bool names_a_secret(std::string_view name, bool is_option);

/// True if a parameter of a URL with this name signs the URL or grants access: "sig", "X-Goog-Signature".
bool names_a_secret_parameter(std::string_view name);

/// Returns the length of the public beginning of a token that is known by it ("hf_", "ghp_", "AKIA"); 0 = no token.
/// `word`: letters, digits, '_', '-', '.' and '+'.
std::size_t token_prefix(std::string_view word);

/// Masks the arguments of one command in their order: a secret may follow its option in the next argument.
class SecretMasker {
 public:
  /// Returns `argument` with *** instead of each secret.
  std::string mask(const std::string& argument);

 private:
  class Scan;
  enum class Next : std::uint8_t { kNothing, kSecret, kUserAndPassword };
  Next next_ = Next::kNothing;  // the next word or argument
  std::string_view program_;    // one whose own options hold secrets; "" = another
};

}  // namespace profshim
