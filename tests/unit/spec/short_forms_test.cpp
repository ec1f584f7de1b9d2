#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "profshim/spec.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

std::string origin_of(const LoadedSpec& loaded, std::string_view key) {
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    if (origin.key == key) return origin.value + " from " + origin.origin;
  }
  return "";
}

LoadedSpec with_variable(const std::string& name, const std::string& value) {
  SpecSources sources;
  sources.environment = {{name, value}};
  return load_spec(sources);
}

TEST(ShortForms, OfDetailWinOverTheFileAndLoseToOptions) {
  const test::TemporaryFolder folder;
  SpecSources sources;
  sources.file = folder.path() + "/s.toml";
  std::ofstream(sources.file) << "version = 1\n[capture]\nwith_stack = true\nrecord_shapes = false\n";
  sources.environment = {{"PROFSHIM_SET", "capture.profile_memory=true"},
                         {"PROFSHIM_STACK", "0"},
                         {"PROFSHIM_SHAPES", "on"},
                         {"PROFSHIM_MEMORY", "off"}};
  EXPECT_EQ(origin_of(load_spec(sources), "capture.with_stack"), "false from PROFSHIM_STACK");
  EXPECT_EQ(origin_of(load_spec(sources), "capture.record_shapes"), "true from PROFSHIM_SHAPES");
  EXPECT_EQ(origin_of(load_spec(sources), "capture.profile_memory"), "false from PROFSHIM_MEMORY");
  sources.options = {{"--set", "capture.with_stack=true"}};
  EXPECT_EQ(origin_of(load_spec(sources), "capture.with_stack"), "true from --set");

  const std::vector<Problem> problems = with_variable("PROFSHIM_MEMORY", "2GiB").problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(to_line(problems[0]),
            "PROFSHIM_MEMORY: capture.profile_memory: \"2GiB\" is not a boolean; allowed: 1, true, yes, on, 0, false, "
            "no, off");
}

TEST(ShortForms, TableIsASwitchOrTheColumnsToSortBy) {
  EXPECT_EQ(origin_of(with_variable("PROFSHIM_TABLE", "1"), "summary.table"), "[\"auto\"] from PROFSHIM_TABLE");
  EXPECT_EQ(origin_of(with_variable("PROFSHIM_TABLE", "0"), "summary.table"), "[] from PROFSHIM_TABLE");
  EXPECT_EQ(origin_of(with_variable("PROFSHIM_TABLE", "count,cpu_time"), "summary.table"),
            "[\"count\", \"cpu_time\"] from PROFSHIM_TABLE");
}

TEST(ShortForms, EveryVariableOfTheKeyTableSetsItsKey) {
  for (const KeyInfo& key : spec_keys()) {
    const std::string forms(key.short_forms);
    const std::string variable = forms.substr(0, forms.find(','));
    if (variable.empty()) continue;
    const bool is_switch = key.type == "boolean" || key.name == "summary.table";
    const std::string value = is_switch ? "1" : key.type == "size" ? "64MiB" : "cpu";
    if (key.name == "schedule.steps" || key.name == "ranks.select" || key.name.starts_with("profile.log")) continue;
    const std::string origin = origin_of(with_variable(variable, value), key.name);
    EXPECT_TRUE(origin.ends_with(" from " + variable)) << key.name << ": " << origin;
  }
}

}  // namespace
}  // namespace profshim
