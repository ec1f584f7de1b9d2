#include "profshim/output/once_per_job.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "profshim/base/files.h"
#include "profshim/base/safe_files.h"
#include "whole_files.h"

namespace profshim::output {
namespace {

constexpr std::string_view kClaim = ".claim-rank";

std::string marks_of(const std::string& folder, std::int64_t base_time_ns) {
  return folder + "/.said-" + std::to_string(base_time_ns);
}

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

bool has_claims(const std::string& folder) {
  const Directory directory(opendir(folder.c_str()), closedir);
  if (directory == nullptr) return false;
  while (const dirent* const entry = readdir(directory.get())) {
    if (std::string_view(entry->d_name).starts_with(kClaim)) return true;
  }
  return false;
}

}  // namespace

bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns) {
  const std::string marks = marks_of(folder, base_time_ns);
  if (mkdir(marks.c_str(), 0777) != 0 && errno != EEXIST) return true;
  const int fd = open_high((marks + "/" + topic).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (fd < 0) return errno != EEXIST;
  close(fd);
  return true;
}

std::string said_first(const std::string& folder, const char* topic, std::int64_t base_time_ns,
                       const std::string& own) {
  const std::string marks = marks_of(folder, base_time_ns);
  std::int64_t now_ns = 0;
  if (!own.empty() && (mkdir(marks.c_str(), 0777) == 0 || errno == EEXIST) &&
      create_whole(marks, topic, own, now_ns) != EEXIST)
    return own;
  std::string said;
  int error = 0;
  return read_small_file(marks + "/" + topic, kMostSmallFile, said, error) ? said : own;
}

void remove_job_lines(const std::string& folder, std::int64_t base_time_ns) {
  const std::string marks = marks_of(folder, base_time_ns);
  // Checks for the marks first: reading the folder is slow with thousands of ranks.
  if (access(marks.c_str(), F_OK) != 0 || has_claims(folder)) return;
  {
    const Directory directory(opendir(marks.c_str()), closedir);
    if (directory == nullptr) return;
    while (const dirent* const entry = readdir(directory.get())) {
      if (entry->d_name[0] != '.') unlink((marks + "/" + entry->d_name).c_str());
    }
  }
  rmdir(marks.c_str());
}

}  // namespace profshim::output
