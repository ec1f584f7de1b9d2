#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace profshim::test {

inline const std::filesystem::path kBadSpecs = PROFSHIM_SOURCE_DIR "/tests/golden/bad_specs";

inline std::vector<std::string> bad_specs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kBadSpecs)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string expected_lines(const std::string& spec) {
  return read_all(kBadSpecs / std::filesystem::path(spec).replace_extension(".expected"));
}

}  // namespace profshim::test
