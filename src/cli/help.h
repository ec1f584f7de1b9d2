// profshim help: the man pages, printed by the tool itself, since clusters often have no man.
#pragma once

#include <string_view>

namespace profshim::cli {

/// Prints the man page of a command, of "profshim" or of "spec"; false if there is no such page.
bool print_page(std::string_view name);

}  // namespace profshim::cli
