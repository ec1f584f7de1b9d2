#pragma once

#include <string>
#include <vector>

namespace profshim::e2e {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

/// Returns sorted paths of files, folders and links, relative to `folder`.
std::vector<std::string> files_below(const std::string& folder);
std::string text_of_file(const std::string& path);

}  // namespace profshim::e2e
