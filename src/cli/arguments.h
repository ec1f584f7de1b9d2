// Only arguments.cpp includes CLI11, whose header takes seconds to compile.
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
  class Argument {
   public:
    Argument& required();
    Argument& shown_as(const char* placeholder);
    Argument& range(double least, double most = std::numeric_limits<double>::infinity());
    /// Ignores upper and lower case; the value becomes the text as listed.
    Argument& one_of(std::vector<std::string> texts);

   private:
    friend class Arguments;
    explicit Argument(void* option) : option_(option) {}
    void* option_;  // CLI::Option
  };

  Arguments(const char* command, const char* about);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// `names`: "-o,--output", or "PATH" for a positional argument. A bool is a flag. A vector takes all positional
  /// arguments, or all values of a repeated option.
  Argument add(const char* names, bool& value, const char* help);
  Argument add(const char* names, std::string& value, const char* help);
  Argument add(const char* names, std::vector<std::string>& values, const char* help);
  Argument add(const char* names, int& value, const char* help);
  Argument add(const char* names, std::int64_t& value, const char* help);
  Argument add(const char* names, double& value, const char* help);
  void exclusive(std::initializer_list<const char*> names);
  void footer(const std::string& text);

  /// Returns false if the command must end now with `status`.
  bool parse(int argc, char** argv, int& status);
  bool given(const char* name) const;

 private:
  std::unique_ptr<Parser> parser_;
};

}  // namespace profshim::cli
