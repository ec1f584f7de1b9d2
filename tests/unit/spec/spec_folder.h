#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "profshim/spec.h"

namespace profshim {

/// A folder of spec files.
class SpecFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/profshim-spec-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  LoadedSpec load(const std::string& name) {
    SpecSources sources;
    sources.file = folder_ / name;
    return load_spec(sources);
  }
  std::filesystem::path folder_;
};

inline std::string lines_of(const LoadedSpec& loaded) {
  std::string out;
  for (const Problem& problem : loaded.problems) out += to_line(problem) + "\n";
  return out;
}

inline std::string origin_of(const LoadedSpec& loaded, std::string_view key) {
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    if (origin.key == key) return origin.value + " from " + origin.origin;
  }
  return "";
}

}  // namespace profshim
