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

/// Joins the arguments with spaces; without `all`, only the first argument. *** replaces what looks like a secret:
/// values of options, variables, members of JSON and parameters of URLs by their names (--token=X, NAME_KEY=X,
/// {"password": "X"}, ?sig=X), -pX, a URL's password, what follows "Bearer", and tokens known by their beginning (hf_,
/// sk-, ghp_, AKIA).
std::string shown_command_line(const std::vector<std::string>& arguments, bool all);

}  // namespace profshim
