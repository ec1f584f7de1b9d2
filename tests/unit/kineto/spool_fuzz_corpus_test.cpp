#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/spool_fuzz.h"

namespace profshim {
namespace {

TEST(SpoolFuzzCorpus, EveryFilePasses) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PROFSHIM_SOURCE_DIR) + "/tests/fuzz/corpus/spool")) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};

    test::fuzz_spool(bytes);

    ++files;
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace profshim
