// All text from traces must pass through escaped() or script_json().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

inline constexpr std::size_t kMaxCellBytes = 300, kMaxTitleBytes = 1000, kMaxSentenceBytes = 1000;

/// `most` is in bytes. Splits no UTF-8 character.
std::string_view cut(std::string_view text, std::size_t most);

/// Escapes HTML text and quoted attributes. Makes control characters visible.
std::string escaped(std::string_view text, std::size_t most = kMaxSentenceBytes);

std::string script_json(std::string_view json);

/// `script` may contain "</" only in a string or a regular expression.
std::string script_text(std::string_view script);

}  // namespace profshim::analysis_detail
