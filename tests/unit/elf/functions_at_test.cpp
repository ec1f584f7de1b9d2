#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "profshim/elf.h"

namespace profshim::elf {
namespace {

// Sanitizers do not intercept gnu_get_libc_version(), so dladdr() finds the C library itself.
std::string library() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &info);
  return info.dli_fname;
}

TEST(FunctionsAt, AreTheFunctionsThatContainTheAddresses) {
  File file;
  std::string why_not;
  ASSERT_TRUE(file.open(library(), why_not)) << why_not;
  std::vector<std::uint64_t> places;
  for (const Function& f : file.functions()) {
    if (f.name == "qsort" || f.name == "memfrob")
      places.insert(places.end(), {f.file_offset, f.file_offset + f.size - 1});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ASSERT_EQ(places.size(), 4u);

  const auto names = functions_at(library(), places);

  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(names[2], names[3]);
  EXPECT_EQ((std::set<std::string>{names[0], names[2]}), (std::set<std::string>{"memfrob", "qsort"}));
}

TEST(FunctionsAt, AreUnknownOutsideAndInOtherFiles) {
  EXPECT_EQ(functions_at(library(), {0})[0], "");
  EXPECT_EQ(functions_at("/dev/null", {5})[0], "");
  EXPECT_EQ(functions_at("/nowhere", {5})[0], "");
}

}  // namespace
}  // namespace profshim::elf
