#include "inject/torch/layout.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary_folder.h"

namespace profshim::torch {
namespace {

bool known(const char* release) {
  Layout layout{};
  return layout_of(release, true, layout);
}

TEST(TorchLayout, KnowsTheReleasesInItsTableOnly) {
#if defined(__x86_64__)
  for (const char* const release : {"1.13.0", "1.13.1+cu117", "2.0.1", "2.7.0a0+git7482eb2", "2.15.0"}) {
    EXPECT_TRUE(known(release)) << release;
  }
#endif
  for (const char* const release : {"1.12.1", "1.14", "2.16.0", "3.0", "", "main", "2"}) {
    EXPECT_FALSE(known(release)) << release;
  }
}

#if defined(__x86_64__)
// scripts/torch_layouts.sh printed these offsets.
TEST(TorchLayout, HasTheOffsetsOfTheRelease) {
  Layout layout{};
  ASSERT_TRUE(layout_of("2.15.0", true, layout));
  EXPECT_EQ(layout.sequence, 200);
  EXPECT_EQ(layout.sizes, 56);
  EXPECT_EQ(layout.tag_bool, 10);
  ASSERT_TRUE(layout_of("2.2.2+cu121", false, layout));
  EXPECT_EQ(layout.sequence, 176);
  EXPECT_EQ(layout.inputs, 184);
  EXPECT_EQ(layout.sizes, 72);
  EXPECT_EQ(layout.tag_bool, 9);
}
#endif

class TorchRelease : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path(scratch_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  std::string release(const std::string& library) const {
    char text[64] = "";
    return release_of((scratch_.path() + "/" + library).c_str(), text, sizeof text) ? text : "(none)";
  }
  const test::TemporaryFolder scratch_;
};

TEST_F(TorchRelease, ReadsTheVersionFileOfAPythonPackage) {
  file("torch/lib/libtorch_cpu.so", "");
  file("torch/version.py", "from typing import Optional\n\n__version__ = '2.15.0+cu130'\ndebug = False\n");
  EXPECT_EQ(release("torch/lib/libtorch_cpu.so"), "2.15.0+cu130");
}

TEST_F(TorchRelease, ReadsTheBuildVersionOfAnArchive) {
  file("libtorch/lib/libtorch_cpu.so", "");
  file("libtorch/build-version", "2.1.0+cpu\n");
  EXPECT_EQ(release("libtorch/lib/libtorch_cpu.so"), "2.1.0+cpu");
}

TEST_F(TorchRelease, ReadsTheNameOfADistributionsLibrary) {
  file("lib/libtorch_cpu.so.1.13.0", "");
  std::filesystem::create_symlink("libtorch_cpu.so.1.13.0", scratch_.path() + "/lib/libtorch_cpu.so.1.13");
  EXPECT_EQ(release("lib/libtorch_cpu.so.1.13"), "1.13.0");
}

TEST_F(TorchRelease, IsUnknownWithoutAnyOfThese) {
  file("lib/libtorch_cpu.so", "");
  EXPECT_EQ(release("lib/libtorch_cpu.so"), "(none)");
  EXPECT_EQ(release("nowhere/libtorch_cpu.so"), "(none)");
}

}  // namespace
}  // namespace profshim::torch
