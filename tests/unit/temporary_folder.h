#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace profshim::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/profshim-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace profshim::test
