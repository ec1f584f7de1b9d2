// `profshim help` prints the man pages itself: clusters often have no man command.
#pragma once

#include <string_view>

namespace profshim::cli {

bool print_page(std::string_view name);

}  // namespace profshim::cli
