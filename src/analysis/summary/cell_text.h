// Text of the cells of tables: numbers as PyTorch formats them in key_averages().table(), and names by character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

/// Returns a number with a fixed number of decimals, and the unit behind it.
std::string fixed(double value, int decimals, std::string_view unit = {});
/// Returns for example "33.33%"; "NaN" if the total is 0.
std::string format_share(double part, double total);
/// Returns for example "1.50 KB" or "-512 B".
std::string format_bytes(double bytes);

/// Counts the characters of UTF-8 text, as Python does.
std::size_t character_count(std::string_view text);
std::string_view first_characters(std::string_view text, std::size_t n);
/// Returns the first `n` characters and "...".
std::string shortened(std::string_view text, std::size_t n);

}  // namespace profshim::analysis_detail
