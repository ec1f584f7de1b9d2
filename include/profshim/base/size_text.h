#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim {

/// Parses "2GiB", "512 MB" or "1024".
bool parse_size(std::string_view text, std::uint64_t& bytes);
/// Returns "1.5 GiB".
std::string format_size(std::uint64_t bytes);

}  // namespace profshim
