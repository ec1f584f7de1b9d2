#include "bad_specs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "profshim/spec.h"

namespace profshim {
namespace {

TEST(BadSpecs, EachGivesExactlyItsLines) {
  const std::vector<std::string> names = test::bad_specs();
  ASSERT_GE(names.size(), 60u);
  // The expected lines name files relative to kBadSpecs.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(test::kBadSpecs);
  for (const std::string& name : names) {
    SpecSources sources;
    sources.file = name;

    const LoadedSpec loaded = load_spec(sources);

    std::string lines;
    for (const Problem& problem : loaded.problems) lines += to_line(problem) + "\n";
    EXPECT_EQ(lines, test::expected_lines(name)) << name;
    EXPECT_FALSE(loaded.ok()) << name;
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace profshim
