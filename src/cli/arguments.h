// The options and arguments of one command. CLI11 parses them; its header takes seconds to compile, so only
// arguments.cpp includes it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace profshim::cli {

class Arguments {
  struct Parser;

 public:
  /// One option, for refinements: arguments.add("-o,--output", out, "Output file").shown_as("FILE").required().
  class Argument {
   public:
    Argument& required();
    /// The placeholder of the value in --help.
    Argument& shown_as(const char* placeholder);
    /// Bounds of a number, both allowed.
    Argument& range(double least, double most = std::numeric_limits<double>::infinity());
    /// Allowed texts. The value becomes the listed text, whatever the case on the command line.
    Argument& one_of(std::vector<std::string> texts);

   private:
    friend class Arguments;
    explicit Argument(void* option) : option_(option) {}
    void* option_;  // CLI::Option
  };

  /// `command`: name of the subcommand. `about`: first lines of --help.
  Arguments(const char* command, const char* about);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Adds an option ("-o,--output") or a positional argument ("PATH"). The default of `value` stays if the option is
  /// not given. bool: a flag. A vector takes each positional argument, or one value at each use of the option.
  Argument add(const char* names, bool& value, const char* help);
  Argument add(const char* names, std::string& value, const char* help);
  Argument add(const char* names, std::vector<std::string>& values, const char* help);
  Argument add(const char* names, int& value, const char* help);
  Argument add(const char* names, std::int64_t& value, const char* help);
  Argument add(const char* names, double& value, const char* help);
  /// At most one of these options may be given.
  void exclusive(std::initializer_list<const char*> names);
  /// Last lines of --help: examples and exit status.
  void footer(const std::string& text);

  /// Parses argv[1] and the following. Returns false if the command must end now with `status` (--help or a usage
  /// error), after printing the help or the error.
  bool parse(int argc, char** argv, int& status);
  /// Returns true if the option was on the command line. After parse().
  bool given(const char* name) const;

 private:
  std::unique_ptr<Parser> parser_;
};

}  // namespace profshim::cli
