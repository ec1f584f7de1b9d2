// A temporary folder for one test, and the files in a folder.
#pragma once

#include <string>
#include <vector>

namespace profshim::e2e {

/// A temporary folder that the destructor removes with its contents.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file into the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

/// Returns the relative paths of all files, folders and links below `folder`, sorted.
std::vector<std::string> files_below(const std::string& folder);
std::string text_of_file(const std::string& path);

}  // namespace profshim::e2e
