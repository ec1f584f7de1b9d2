// A temporary folder for one test, and the files in a folder.
#pragma once

#include <string>
#include <vector>

namespace profshim::e2e {

/// A folder of its own, removed with everything in it at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file into it; returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

/// Every file, folder and link below `folder`, relative, sorted.
std::vector<std::string> files_below(const std::string& folder);
std::string text_of_file(const std::string& path);

}  // namespace profshim::e2e
