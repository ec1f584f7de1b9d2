// The command line as it may be shown: in traces, spools and messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// The arguments of this process, as they were given.
std::vector<std::string> process_arguments();

/// The arguments with blanks between them, and *** for the value of each that looks like a secret: --token=X, --token
/// X,
/// --password X, --api-key X, NAME_KEY=X, NAME_TOKEN=X, anything with SECRET or PASSWORD in its name, the password of
/// a URL, what follows "Bearer". With `all` false, the first alone.
std::string shown_command_line(const std::vector<std::string>& arguments, bool all);

}  // namespace profshim
