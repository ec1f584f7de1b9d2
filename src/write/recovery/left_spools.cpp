#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/run/run_folder.h"
#include "profshim/write/recover.h"
#include "spool_file.h"

namespace profshim::write {
namespace {

constexpr std::int64_t kKeptFor_ns = 24 * 3'600'000'000'000;

bool has_ended(const SpoolHead& head) { return life_of(head.process, head.last_sign_ns, realtime_ns()) == Life::kDead; }

bool is_run_gone(const SpoolHead& head) {
  if (head.folder.empty()) return false;
  const Descriptor folder = open_folder(head.folder);
  if (!folder) return errno == ENOENT || errno == ENOTDIR;
  return run::run_id_of(folder.get()) != head.run_id;
}

/// An eighth of the file system.
std::uint64_t most_kept_in(const std::string& folder) {
  struct statvfs s {};
  return statvfs(folder.c_str(), &s) == 0 ? std::uint64_t{s.f_blocks} * s.f_frsize / 8 : 0;
}

/// The run folder may hold another run: that must not keep a link to no file.
void remove_with_links(const SpoolFile& file, const LeftSpool& spool) {
  const Descriptor folder = open_folder(spool.folder);
  for (const std::string& name : names_in(folder.get())) {
    char target[4096];
    const ssize_t length = readlinkat(folder.get(), name.c_str(), target, sizeof target);
    struct stat link {};
    if (length < 0 || std::string_view(target, static_cast<std::size_t>(length)) != spool.path) continue;
    if (fstatat(folder.get(), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 && link.st_uid == geteuid())
      remove_if_same(folder.get(), name, link);
  }
  file.remove();
}

}  // namespace

bool is_left_behind(const std::string& spool_path) {
  const SpoolFile spool(spool_path, AT_FDCWD);
  SpoolHead head;
  if (spool.error() != 0 || (spool.owner() != geteuid() && geteuid() != 0)) return false;
  return spool.read_head(head) && has_ended(head);
}

std::string run_id_of_spool(const std::string& spool_path) {
  SpoolHead head;
  return SpoolFile(spool_path, AT_FDCWD).read_head(head) ? head.run_id : "";
}

std::vector<std::string> spools_named_as_ours(const std::string& folder, std::size_t most) {
  std::vector<std::string> found;
  const std::string ours = "profshim-" + std::to_string(getuid()) + "-";
  const Descriptor opened(open_high(folder.c_str(), O_PATH | O_DIRECTORY));
  if (!opened) return found;
  for (const std::string& name : names_in(opened.get())) {
    struct stat s {};
    if (!name.starts_with(ours) || !name.ends_with(".spool") || found.size() >= most) continue;
    if (fstatat(opened.get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(s.st_mode) && s.st_uid == geteuid()) found.push_back(folder + "/" + name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<LeftSpool> spools_without_run(const std::string& folder, std::size_t most) {
  std::vector<LeftSpool> found;
  for (const std::string& path : spools_named_as_ours(folder, most)) {
    const SpoolFile file(path, AT_FDCWD);
    SpoolHead head;
    if (!file.read_head(head) || !has_ended(head) || !is_run_gone(head)) continue;
    found.push_back({path, head.folder, head.run_name, head.run_id, head.rank, file.bytes_in_use(), head.last_sign_ns});
  }
  return found;
}

void remove_old_spools(const std::string& folder, std::vector<LeftSpool> spools, std::int64_t now_ns) {
  std::sort(spools.begin(), spools.end(),
            [](const LeftSpool& a, const LeftSpool& b) { return a.last_sign_ns > b.last_sign_ns; });
  const std::uint64_t most_bytes = most_kept_in(folder);
  std::uint64_t bytes = 0;
  for (const LeftSpool& spool : spools) {
    bytes += spool.bytes;
    if (bytes <= most_bytes && now_ns - spool.last_sign_ns < kKeptFor_ns) continue;
    SpoolFile file(spool.path, AT_FDCWD);
    if (file.error() == 0 && file.lock()) remove_with_links(file, spool);
  }
}

}  // namespace profshim::write
