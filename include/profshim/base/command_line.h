// The command line of this process, and how it is shown in traces, spools and messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// Returns the arguments of this process.
std::vector<std::string> process_arguments();

/// Returns /proc/self/cmdline with spaces between the arguments.
std::string command_line();

/// Returns the file name of the executable, or of the script without its extension for an interpreter.
std::string program_name();

/// Returns the arguments with spaces between them, and *** for values that look like a secret: --token=X, --token X,
/// --password X, --api-key X, NAME_KEY=X, NAME_TOKEN=X, names with SECRET or PASSWORD, the password in a URL, the word
/// after "Bearer". Returns only the first argument if `all` is false.
std::string shown_command_line(const std::vector<std::string>& arguments, bool all);

}  // namespace profshim
