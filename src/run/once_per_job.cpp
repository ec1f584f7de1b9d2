#include "profshim/run/once_per_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "profshim/base/files.h"
#include "small_files.h"

namespace profshim::run {
namespace {

constexpr std::string_view kClaim = ".claim-rank";

std::string marks_of(std::int64_t base_time_ns) { return ".said-" + std::to_string(base_time_ns); }

/// `but`: a claim that does not count.
bool has_claims(int folder_fd, const std::string& but = "") {
  const std::vector<std::string> names = names_in(folder_fd);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(kClaim) && name != but; });
}

}  // namespace

bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns) {
  const Descriptor marks = open_folder_below(open_folder(folder).get(), marks_of(base_time_ns));
  if (!marks) return true;
  const int fd = openat_high(marks.get(), topic, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (fd < 0) return errno != EEXIST;
  close(fd);
  return true;
}

bool speaks_for_job(const Rank& rank, const std::string& folder, const char* topic, std::int64_t base_time_ns) {
  return rank.world_size == 1 || claim_job_line(folder, topic, base_time_ns);
}

std::string said_first(const std::string& folder, const char* topic, std::int64_t base_time_ns,
                       const std::string& own) {
  const Descriptor top = open_folder(folder);
  if (!top) return own;
  const std::string name = marks_of(base_time_ns) + "/" + topic;
  std::int64_t now_ns = 0;
  if (!own.empty() && create_whole(top.get(), name, own, now_ns) == 0) return own;
  std::string said;
  int error = 0;
  return read_small_file(name, kMostSmallFile, said, error, nullptr, top.get()) ? said : own;
}

void say(const std::string& folder, const char* topic, std::int64_t base_time_ns, const std::string& text) {
  if (said_first(folder, topic, base_time_ns, "") == text) return;
  if (const Descriptor top = open_folder(folder)) replace_whole(top.get(), marks_of(base_time_ns) + "/" + topic, text);
}

bool is_other_rank_claimed(const std::string& folder, int rank) {
  const Descriptor top = open_folder(folder);
  return top && has_claims(top.get(), std::string(kClaim) + std::to_string(rank));
}

void remove_job_lines(const std::string& folder, std::int64_t base_time_ns) {
  const Descriptor top = open_folder(folder);
  const std::string name = marks_of(base_time_ns);
  // Checks for the marks first: reading the folder is slow with thousands of ranks.
  if (!top || faccessat(top.get(), name.c_str(), F_OK, 0) != 0 || has_claims(top.get())) return;
  {
    const Descriptor marks = open_folder_below(top.get(), name);
    if (!marks) return;
    for (const std::string& mark : names_in(marks.get())) {
      if (mark[0] != '.') unlinkat(marks.get(), mark.c_str(), 0);
    }
  }
  unlinkat(top.get(), name.c_str(), AT_REMOVEDIR);
}

}  // namespace profshim::run
