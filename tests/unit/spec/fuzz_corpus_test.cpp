#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fuzz/spec_fuzz.cpp"
#include "unit/spec/bad_specs.h"

namespace {

int replay(const std::filesystem::path& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = profshim::test::read_all(entry.path());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    ++files;
  }
  return files;
}

TEST(FuzzCorpus, OfTheSpecPassesItsChecks) {
  EXPECT_GT(replay(PROFSHIM_SOURCE_DIR "/tests/fuzz/corpus/spec"), 100);
  EXPECT_GT(replay(profshim::test::kBadSpecs), 60);
}

}  // namespace
