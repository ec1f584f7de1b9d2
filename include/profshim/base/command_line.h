#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim {

std::vector<std::string> process_arguments();

/// Returns /proc/self/cmdline, separated by spaces.
std::string command_line();

/// Returns the file name of the executable; for an interpreter, of the script without extension, or the module of -m;
/// for an actor of Ray, of its class.
std::string program_name();
std::string program_name_of(const std::vector<std::string>& arguments);

/// Returns the class of an actor of Ray, or the function of its task; else "".
std::string role_of_title(const std::vector<std::string>& arguments);

/// Joins the arguments with spaces; without `all`, only the first argument. *** replaces values that look like a
/// secret: --token=X, --password X, NAME_KEY=X, names with SECRET or PASSWORD, a URL's password, the word after
/// "Bearer".
std::string shown_command_line(const std::vector<std::string>& arguments, bool all);

}  // namespace profshim
