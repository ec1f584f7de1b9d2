#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tool.h"

namespace profshim::test {
namespace {

std::vector<std::string> commands() {
  std::vector<std::string> names;
  std::istringstream lines(run_shell("profshim --help").out);
  const std::regex row("  ([a-z]+) +\\S.*");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) names.push_back(match[1]);
  }
  return names;
}

std::set<std::string> long_options(const std::string& text) {
  static const std::regex option("(?:^|[\\s,*|])(--[a-z][a-z-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

// Examples may have options of other programs.
std::string before_examples(const std::string& text) { return text.substr(0, text.find("\nExample")); }

TEST(Help, EveryCommandHasAManualWithItsOptions) {
  ASSERT_GE(commands().size(), 14u);
  for (const std::string& name : commands()) {
    const auto page = run_shell("profshim help " + name);
    ASSERT_EQ(page.status, 0) << name;
    EXPECT_EQ(page.out.rfind("NAME\n\n    profshim-" + name + " - ", 0), 0u) << page.out.substr(0, 200);
    for (const char* section : {"\nSYNOPSIS\n", "\nDESCRIPTION\n", "\nOPTIONS\n", "\nEXIT STATUS\n", "\nEXAMPLES\n"}) {
      EXPECT_NE(page.out.find(section), std::string::npos) << name << section;
    }
    const std::size_t options_at = page.out.find("\nOPTIONS\n");
    const std::string options = page.out.substr(options_at, page.out.find("\nEXIT STATUS\n") - options_at);
    std::string help = run_shell("profshim " + name + " --help").out;
    help = before_examples(help.substr(help.find("-h,--help")));
    for (const std::string& option : long_options(help)) {
      EXPECT_NE(options.find(option), std::string::npos) << "profshim help " << name << " lacks " << option;
    }
    for (const std::string& option : long_options(options)) {
      EXPECT_NE(help.find(option), std::string::npos) << "profshim " << name << " has no " << option;
    }
  }
}

TEST(Help, TheManualOfTheSpecHasEveryKey) {
  const std::string page = run_shell("profshim help spec").out;
  for (const char* key : {"ranks.select", "schedule.active", "output.folder", "check.rule"}) {
    EXPECT_NE(page.find(std::string("\n    ") + key + " ("), std::string::npos) << key;
  }
}

TEST(Help, DocumentsNameCommandsAndOptionsThatExist) {
  namespace fs = std::filesystem;
  const std::vector<std::string> all = commands();
  std::vector<fs::path> documents;
  for (const char* name : {"README.md", "CHANGELOG.md", "inject/README.md", "tests/README.md", "tests/bench/README.md"})
    documents.push_back(fs::path(PROFSHIM_SOURCE_DIR) / name);
  for (const auto& entry : fs::recursive_directory_iterator(PROFSHIM_SOURCE_DIR "/src"))
    if (entry.path().extension() == ".scd") documents.push_back(entry.path());
  const std::regex named("[*`]profshim ([a-z]+)([^*`]*)[*`]");
  int found = 0;
  for (const fs::path& document : documents) {
    std::ifstream in(document);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at, ++found) {
      const std::string command = (*at)[1], arguments = (*at)[2];
      SCOPED_TRACE(document.string() + ": " + at->str());
      if (command == "help") continue;
      EXPECT_NE(std::find(all.begin(), all.end(), command), all.end());
      const std::string help = run_shell("profshim " + command + " --help").out;
      for (const std::string& option : long_options(arguments.substr(0, arguments.find(" -- "))))
        EXPECT_NE(help.find(option), std::string::npos) << option;
    }
  }
  EXPECT_GE(found, 50);
}

TEST(Help, MissingPageIsAnUnknownCommand) {
  const auto outcome = run_shell("profshim help merg");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("did you mean \"merge\"?"), std::string::npos) << outcome.err;
}

TEST(Help, MarkupIsForTerminalsOnly) {
  const std::string page = run_shell("profshim help profshim").out;
  EXPECT_EQ(page.find('\033'), std::string::npos);
  EXPECT_EQ(page.find("*LD_PRELOAD"), std::string::npos);
  EXPECT_NE(page.find("are written as ***"), std::string::npos);
  EXPECT_NE(page.find("LD_PRELOAD=PATH/libprofshim.so"), std::string::npos);
}

}  // namespace
}  // namespace profshim::test
