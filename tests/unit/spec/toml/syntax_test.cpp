// These errors come from profshim, not from the TOML library.
#include "spec/toml/syntax.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/toml/document.h"

namespace profshim::spec {
namespace {

std::string mistake_in(const std::string& text) {
  const auto problem = check_syntax(text, "s");
  return problem ? to_line(*problem) : "";
}

TEST(TomlSyntax, AcceptsEveryFormOfTheLanguage) {
  for (const char* text :
       {"", "\n\r\n# comment\r\n",
        "\xef\xbb\xbf"
        "a = 1",
        "a=1 # comment", "a.b . \"c d\".'e' = 1", "1-2_x = true", "a = [ ]\nb = [\n1, # one\n2,\n\n]",
        "a = [[1, 2], [\"x\", {b = 1}]]", "a = {}\nb = { c = 1, d.e = 'x' }",
        "[a]\n[ a . \"b\" ]\n[[c]]\n[[ c ]] # comment", "a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\"",
        "a = \"\"\"\nx\\\n   y \\   \n ''' \"two\"\" \"\"\"\"\"", "a = '''\nx\\q ''x'''''", "a = 'C:\\temp'"}) {
    EXPECT_EQ(mistake_in(text), "") << text;
    for (const Problem& problem : read_document(text, "s").problems) {
      EXPECT_EQ(problem.message.find("TOML"), std::string::npos) << text << ": " << to_line(problem);
    }
  }
}

TEST(TomlSyntax, AcceptsEveryFormOfNumbersAndDates) {
  for (const char* token : {"true",
                            "false",
                            "0",
                            "-0",
                            "+7",
                            "1_000",
                            "0xDEAD_beef",
                            "0o755",
                            "0b1010",
                            "99999999999999999999",
                            "1.5",
                            "-0.0",
                            "1e9",
                            "6.26e-34",
                            "1_0.0_1E+2",
                            "inf",
                            "-inf",
                            "+nan",
                            "2024-02-29",
                            "2000-02-29",
                            "2021-12-31",
                            "07:32:00",
                            "07:32:60.999",
                            "1979-05-27T07:32:00",
                            "1979-05-27 07:32:00Z",
                            "1979-05-27t00:32:00.99+07:30"}) {
    EXPECT_EQ(check_scalar(token), "") << token;
    EXPECT_EQ(mistake_in("a = [" + std::string(token) + "] # x"), "") << token;
  }
}

TEST(TomlSyntax, RefusesOtherNumbersAndDates) {
  for (const char* token : {"True",
                            "yes",
                            "_1",
                            "1_",
                            "1__0",
                            "+",
                            "-",
                            "0x",
                            "0xg",
                            "0b2",
                            "0o8",
                            "-0x1",
                            "1.",
                            ".5",
                            "1.e1",
                            "1e",
                            "e1",
                            "1_.0",
                            "01",
                            "-01",
                            "01.5",
                            "infinity",
                            "2021-02-29",
                            "1900-02-29",
                            "2021-04-31",
                            "2021-13-01",
                            "2021-00-01",
                            "2021-1-1",
                            "2021-01-00",
                            "24:00:00",
                            "07:60:00",
                            "07:32",
                            "07:32:61",
                            "07:32:00.",
                            "1979-05-27T",
                            "1-2",
                            "1979-05-27T07:32:00+7",
                            "1979-05-27T07:32:00ZZ"}) {
    EXPECT_NE(check_scalar(token), "") << token;
  }
}

TEST(TomlSyntax, ReportsPlaceAndReason) {
  const struct {
    const char *text, *line;
  } rows[] = {
      {"a = ", "s:1:5: not valid TOML: a value is missing after \"=\""},
      {"a = # x", "s:1:5: not valid TOML: a value is missing after \"=\""},
      {"a", "s:1:2: not valid TOML: \"=\" is missing after the key \"a\""},
      {"\n  a.b 3", "s:2:7: not valid TOML: \"=\" is missing after the key \"a.b\""},
      {"= 1", "s:1:1: not valid TOML: \"=\" is not a key"},
      {"\xc3\xa9 = 1", "s:1:1: not valid TOML: \"\xc3\xa9\" is not a key"},
      {"a. = 1", "s:1:4: not valid TOML: \"=\" is not a key"},
      {"[a.", "s:1:4: not valid TOML: a key is missing"},
      {"[a", "s:1:3: not valid TOML: the table's name does not end with \"]\""},
      {"[[a]", "s:1:4: not valid TOML: the table's name does not end with \"]]\""},
      {"[a] b", "s:1:5: not valid TOML: more text after the end of the table's name; write one key on a line"},
      {"a = 1 b = 2", "s:1:7: not valid TOML: more text after the end of the value; write one key on a line"},
      {"a = [{b = 1}] c", "s:1:15: not valid TOML: more text after the end of the value; write one key on a line"},
      {"a = on", "s:1:5: not valid TOML: \"on\" is not a value; put the text in quotes"},
      {"a = 012", "s:1:5: not valid TOML: the number \"012\" begins with a zero"},
      {"a = 2021-02-30", "s:1:5: not valid TOML: \"2021-02-30\" is not a date"},
      {"a = 25:00:00", "s:1:5: not valid TOML: \"25:00:00\" is not a time of day"},
      {"a = 'x\nb = 1", "s:1:5: not valid TOML: the quotes of the text are not closed"},
      {"a = \"\"\"x\n\"\"\n", "s:1:5: not valid TOML: the quotes of the text are not closed"},
      {"\"\"\"a\"\"\" = 1", "s:1:1: not valid TOML: a key cannot be a text of several lines"},
      {"a = [1,\n2\n", "s:1:5: not valid TOML: the list does not end with \"]\""},
      {"a = [1 2]", "s:1:8: not valid TOML: \",\" is missing between two values"},
      {"a = [,1]", "s:1:6: not valid TOML: a value is missing before \",\""},
      {"a = {b = 1\n}", "s:1:5: not valid TOML: the table does not end with \"}\" on its line"},
      {"a = {b = 1,}", "s:1:12: not valid TOML: \"}\" is not a key"},
      {"a = {b = 1 c = 2}", "s:1:12: not valid TOML: \",\" is missing between two keys"},
      {"a = \"\\q\"",
       "s:1:6: not valid TOML: \"\\\" does not start a known escape sequence; write \\\\ for a backslash, or put the "
       "text in single "
       "quotes"},
      {"a = \"\\u12\"", "s:1:6: not valid TOML: \"\\u\" needs 4 hexadecimal digits"},
      {"a = \"\\U00110000\"", "s:1:6: not valid TOML: \"\\U00110000\" is not a Unicode character"},
      {"a = 1\r", "s:1:6: not valid TOML: a carriage return without a newline (save the file with Unix line ends)"},
  };
  for (const auto& row : rows) EXPECT_EQ(mistake_in(row.text), row.line) << row.text;
}

TEST(TomlSyntax, DuplicateKeysAndTablesAreReportedAtTheSecondPlace) {
  const auto problem_of = [](const char* text) { return to_line(read_document(text, "s").problems.at(0)); };
  EXPECT_EQ(problem_of("version = 1\n  version = 2"), "s:2:3: not valid TOML: \"version\" is given twice");
  EXPECT_EQ(problem_of("[ranks]\n[output]\n[ranks] # x"), "s:3:1: not valid TOML: \"[ranks]\" is given twice");
}

}  // namespace
}  // namespace profshim::spec
