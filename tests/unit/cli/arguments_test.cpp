#include <gtest/gtest.h>

#include <string>

#include "unit/cli/tool.h"

namespace profshim {
namespace {

using test::run_shell;

std::string usage_error(const std::string& command, const std::string& text) {
  const std::string name = command.substr(0, command.find(' '));
  return "profshim " + name + ": " + text + "; `profshim " + name + " --help` lists the options\n";
}

TEST(Arguments, UsageErrorsNameTheOptionAndTheValue) {
  const struct {
    const char *command, *error;
  } cases[] = {
      {"explain --world-size 0", "--world-size: 0 is not between 1 and 10000000"},
      {"explain --world-size 1.5", "--world-size: \"1.5\" is not a whole number"},
      {"explain --world-size 99999999999", "--world-size: 99999999999 is too large"},
      {"explain --job-steps many", "--job-steps: \"many\" is not a whole number"},
      {"compare --tolerance -1 a b", "--tolerance: -1 is not between 0 and 1000"},
      {"compare --tolerance nan a b", "--tolerance: \"nan\" is not a number"},
      {"summary --gap-us -1 a", "--gap-us: -1 is less than 0"},
      {"summary --time-unit h a", "--time-unit: \"h\" is not one of s, ms, us"},
      {"summary --json --csv a", "--json and --csv exclude each other"},
      {"keys --toml --json", "--json and --toml exclude each other"},
      {"merge --sync fast -o a b", "--sync: \"fast\" is not one of collective, anchors, none"},
      {"merge a", "--output is required"},
      {"run --set", "--set: 1 required KEY=VALUE missing"},
      {"ls a b", "The following argument was not expected: b"},
  };
  for (const auto& c : cases) {
    const auto outcome = run_shell(std::string("profshim ") + c.command);
    EXPECT_EQ(outcome.status, 2) << c.command;
    EXPECT_EQ(outcome.err, usage_error(c.command, c.error));
  }
}

TEST(Arguments, ChoiceIgnoresCase) {
  EXPECT_NE(run_shell("profshim merge --sync NONE -o a.json no-such-file").err.find("no-such-file: no such file"),
            std::string::npos);
}

TEST(Arguments, RepeatedOptionTakesOneValueEach) {
  const std::string errors = run_shell("profshim compare --base no-a --base no-b no-c").err;
  EXPECT_NE(errors.find("no-c: no such file"), std::string::npos) << errors;
}

}  // namespace
}  // namespace profshim
