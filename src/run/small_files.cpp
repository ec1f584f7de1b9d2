#include "small_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "profshim/base/files.h"
#include "profshim/trace/writer.h"

namespace profshim::run {

int create_whole(int folder_fd, const std::string& name, const std::string& text, std::int64_t& now_ns) {
  AtomicFile file;
  if (!file.open("", name, folder_fd) || !file.write(text.data(), text.size())) return file.error();
  now_ns = file.written_at_ns();
  return file.publish(AtomicFile::Existing::kKeepExisting) ? 0 : file.error();
}

bool replace_whole(int folder_fd, const std::string& name, const std::string& text) {
  AtomicFile file;
  return file.open("", name, folder_fd) && file.write(text.data(), text.size()) &&
         file.publish(AtomicFile::Existing::kReplace);
}

void remove_if_unchanged(int folder_fd, const std::string& name, const std::string& text) {
  const std::string aside = "." + random_text() + ".old-claim";
  if (renameat(folder_fd, name.c_str(), folder_fd, aside.c_str()) != 0) return;
  std::string moved;
  int error = 0;
  if (!read_small_file(aside, kMostSmallFile, moved, error, nullptr, folder_fd) || moved != text)
    (void)!linkat(folder_fd, aside.c_str(), folder_fd, name.c_str(), 0);
  unlinkat(folder_fd, aside.c_str(), 0);
}

}  // namespace profshim::run
