// Formats cells of tables as PyTorch does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

std::string fixed(double value, int decimals, std::string_view unit = {});
std::string format_share(double part, double total);
std::string format_bytes(double bytes);

/// Counts as Python's len() does.
std::size_t character_count(std::string_view text);
std::string_view first_characters(std::string_view text, std::size_t n);
std::string shortened(std::string_view text, std::size_t n);

}  // namespace profshim::analysis_detail
