// Escapes texts of traces for the HTML page of a report. Whatever comes from a trace goes through one of these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

inline constexpr std::size_t kMaxCellBytes = 300, kMaxTitleBytes = 1000, kMaxSentenceBytes = 1000;

/// Returns at most `most` bytes of `text`, which must be UTF-8, without splitting a character.
std::string_view cut(std::string_view text, std::size_t most);

/// For text, and for attributes in double quotes. Control characters become their visible symbols; texts longer than
/// `most` bytes end with an ellipsis.
std::string escaped(std::string_view text, std::size_t most = kMaxSentenceBytes);

/// JSON for a <script> element.
std::string script_json(std::string_view json);

/// A script for a <script> element. "</" may occur in strings and patterns only.
std::string script_text(std::string_view script);

}  // namespace profshim::analysis_detail
