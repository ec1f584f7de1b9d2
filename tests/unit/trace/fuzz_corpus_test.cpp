#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/trace_fuzz.h"

namespace profshim {
namespace {

TEST(TraceFuzzCorpus, EveryFilePasses) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PROFSHIM_SOURCE_DIR) + "/tests/fuzz/corpus/trace")) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};

    test::fuzz_trace(bytes);

    ++files;
  }
  EXPECT_GT(files, 8);
}

}  // namespace
}  // namespace profshim
