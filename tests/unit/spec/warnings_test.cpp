#include <gtest/gtest.h>

#include "profshim/spec.h"

namespace profshim {
namespace {

TEST(SpecWarnings, ExportedStacksMustBeRecorded) {
  const std::string spec = "version=1\n[output]\nexport=['chrome_trace','stacks']\n";
  const LoadedSpec loaded = load_spec_text(spec, "x");
  EXPECT_TRUE(loaded.ok());
  EXPECT_NE(to_line(loaded.problems.at(0)).find("warning: \"stacks\" exports nothing"), std::string::npos);
  EXPECT_TRUE(load_spec_text(spec + "[capture]\nwith_stack=true\n", "x").problems.empty());
}

TEST(SpecWarnings, MemoryOfThePageMustBeRecorded) {
  const std::string spec = "version=1\n[output]\nexport=['chrome_trace','memory_timeline']\n";
  const LoadedSpec loaded = load_spec_text(spec, "x");
  EXPECT_TRUE(loaded.ok());
  EXPECT_NE(to_line(loaded.problems.at(0)).find("warning: \"memory_timeline\" exports nothing"), std::string::npos);
  EXPECT_TRUE(load_spec_text(spec + "[capture]\nprofile_memory=true\n", "x").problems.empty());
}

}  // namespace
}  // namespace profshim
