#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/error_text.h"
#include "profshim/base/files.h"
#include "profshim/base/size_text.h"
#include "profshim/output.h"
#include "profshim/output/recover.h"
#include "spool_file.h"
#include "write_recovered_traces.h"

namespace profshim::output {
namespace {

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

std::string target_of(int folder_fd, const std::string& link) {
  char target[4096];
  const ssize_t n = readlinkat(folder_fd, link.c_str(), target, sizeof target - 1);
  return n < 0 ? "" : std::string(target, static_cast<std::size_t>(n));
}

std::vector<std::string> names_in(int folder_fd) {
  std::vector<std::string> names;
  const int fd = openat_high(folder_fd, ".", O_RDONLY | O_DIRECTORY);
  DIR* const directory = fd < 0 ? nullptr : fdopendir(fd);
  if (directory == nullptr) {
    if (fd >= 0) close(fd);
    return names;
  }
  while (const dirent* const entry = readdir(directory)) names.emplace_back(entry->d_name);
  closedir(directory);
  return names;
}

class Attempt {
 public:
  Attempt(SpoolFile& spool, std::string path, const RecoverOptions& options, std::vector<RecoverNote>& notes)
      : spool_(spool), path_(std::move(path)), options_(options), notes_(notes) {}

  /// Locks and opens the spool. Returns kRecovered if run() may follow.
  RecoverOutcome prepare() {
    std::int64_t last_sign_ns = 0;
    if (!spool_.read_process(process_, last_sign_ns))
      return fail(path_ +
                  ": not a spool (profshim's buffer file), or one of another version of profshim: run that "
                  "version's `profshim recover`, or remove the file");
    if (!spool_.lock()) return RecoverOutcome::kElsewhere;
    if (life_of(process_, last_sign_ns, realtime_ns()) == Life::kAlive) return add_running_note();
    if (options_.most_copied > 0 && spool_.bytes_in_use() > options_.most_copied) {
      return fail(path_ + " holds " + format_size(spool_.bytes_in_use()) +
                  " of events of a dead process; run: profshim recover " + path_);
    }
    std::string why_not;
    view_ = spool_.view(options_.most_copied > 0, why_not);
    return view_ != nullptr ? RecoverOutcome::kRecovered : fail(path_ + ": " + why_not);
  }
  const spool::View& view() const { return *view_; }
  std::string own_folder() const { return std::string(view_->string(view_->header().folder)); }

  bool is_of_this_container() const { return can_be_seen(process_); }

  bool is_linked_from(const OpenFolder& folder) const { return !own_links(folder).empty(); }

  /// Removes links before the spool: if killed in between, no link dangles.
  RecoverOutcome run(const OpenFolder& folder) {
    const RecoverOutcome outcome = Recovery(*view_, folder, path_, options_, notes_).run();
    if (outcome == RecoverOutcome::kFailed) return outcome;
    for (const auto& [name, link] : own_links(folder)) remove_if_same(folder.fd.get(), name, link);
    spool_.remove();
    release_claim_of(folder.path, view_->header().rank, process_, folder.fd.get());
    return outcome;
  }

 private:
  RecoverOutcome fail(const std::string& why) {
    notes_.push_back({path_, -1, -1, "", why});
    return RecoverOutcome::kFailed;
  }

  RecoverOutcome add_running_note() {
    const std::string process = "process " + std::to_string(process_.pid);
    notes_.push_back({path_, -1, -1, "",
                      can_be_seen(process_) ? process + " is still running"
                                            : process + " was still running on " + process_.host +
                                                  " a moment ago; recover on that host, or try again in a minute",
                      true});
    return RecoverOutcome::kRunning;
  }

  using Link = std::pair<std::string, struct stat>;
  std::vector<Link> own_links(const OpenFolder& folder) const {
    std::vector<Link> links;
    for (const std::string& name : names_in(folder.fd.get())) {
      struct stat link {};
      if (!name.ends_with(".spool") || target_of(folder.fd.get(), name) != path_) continue;
      if (fstatat(folder.fd.get(), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0 || link.st_uid != geteuid()) continue;
      links.emplace_back(name, link);
    }
    return links;
  }

  SpoolFile& spool_;
  const std::string path_;
  const RecoverOptions& options_;
  std::vector<RecoverNote>& notes_;
  ProcessIdentity process_;
  std::unique_ptr<spool::View> view_;
};

}  // namespace

OpenFolder open_run_folder(const std::string& path) {
  OpenFolder folder;
  folder.path = absolute_path(path);
  folder.fd = Descriptor(open_high(folder.path.c_str(), O_PATH | O_DIRECTORY));
  if (folder.fd) fstat(folder.fd.get(), &folder.found);
  return folder;
}

std::vector<std::string> spool_entries(const OpenFolder& folder) {
  std::vector<std::string> found;
  for (std::string& name : names_in(folder.fd.get())) {
    if (name.ends_with(".spool")) found.push_back(std::move(name));
  }
  std::sort(found.begin(), found.end());
  return found;
}

RecoverOutcome recover_entry(const OpenFolder& folder, const std::string& name, const RecoverOptions& options,
                             std::vector<RecoverNote>& notes) {
  const std::string shown = folder.path + "/" + name;
  const auto end_with = [&](RecoverOutcome outcome, const std::string& message) {
    notes.push_back({shown, -1, -1, "", shown + ": " + message});
    return outcome;
  };
  struct stat entry {};
  // If the entry is gone, another process has recovered the spool.
  if (fstatat(folder.fd.get(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) return RecoverOutcome::kElsewhere;
  const bool is_link = S_ISLNK(entry.st_mode);
  const std::string target = is_link ? target_of(folder.fd.get(), name) : name;
  const std::string path = target.starts_with('/') ? target : folder.path + "/" + target;
  SpoolFile spool(target, folder.fd.get());
  if (spool.error() == ENOENT) {
    if (fstatat(folder.fd.get(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) return RecoverOutcome::kElsewhere;
    return end_with(RecoverOutcome::kFailed,
                    "profshim's buffer file " + target +
                        " does not exist: it is on another host (run profshim recover there), or was lost when this "
                        "host restarted");
  }
  if (spool.error() == EINVAL || spool.error() == ELOOP) {
    return end_with(RecoverOutcome::kForeign, "skipped: " + path + " is not a spool (profshim's buffer file)");
  }
  if (spool.error() != 0) return end_with(RecoverOutcome::kFailed, path + ": " + error_text(spool.error()));
  const uid_t us = geteuid();
  if (spool.owner() != us || entry.st_uid != us) {
    return end_with(RecoverOutcome::kForeign,
                    "skipped: the link or the spool belongs to another user; run as that user");
  }
  Attempt attempt(spool, path, options, notes);
  if (const RecoverOutcome ready = attempt.prepare(); ready != RecoverOutcome::kRecovered) return ready;
  if (folder.found.st_uid != us) {
    // In another user's folder, only spools of jobs that recorded into that folder are recovered.
    const OpenFolder own = open_run_folder(attempt.own_folder());
    if (!own.fd || !is_same_file(own.found, folder.found)) {
      return end_with(
          RecoverOutcome::kForeign,
          "skipped: this spool belongs to another run folder; run: profshim recover " + attempt.own_folder());
    }
  }
  const RecoverOutcome outcome = attempt.run(folder);
  const bool done = outcome == RecoverOutcome::kRecovered || outcome == RecoverOutcome::kNothing;
  if (done) remove_if_same(folder.fd.get(), name, entry);
  return outcome;
}

RecoverOutcome recover_spool(const std::string& path, const RecoverOptions& options, std::vector<RecoverNote>& notes) {
  const auto end_with = [&](RecoverOutcome outcome, const std::string& message) {
    notes.push_back({path, -1, -1, "", path + ": " + message});
    return outcome;
  };
  SpoolFile spool(path, AT_FDCWD);
  if (spool.error() == ENOENT) return RecoverOutcome::kElsewhere;
  if (spool.error() == EINVAL) return end_with(RecoverOutcome::kForeign, "not a spool (profshim's buffer file)");
  if (spool.error() != 0) return end_with(RecoverOutcome::kFailed, error_text(spool.error()));
  if (spool.owner() != geteuid())
    return end_with(RecoverOutcome::kForeign, "belongs to another user; run as that user");
  Attempt attempt(spool, path, options, notes);
  if (const RecoverOutcome ready = attempt.prepare(); ready != RecoverOutcome::kRecovered) return ready;
  if (attempt.own_folder().empty()) {
    return end_with(RecoverOutcome::kFailed, "does not name its run folder; run: profshim recover RUN_FOLDER");
  }
  // Another user may have put a link here: open_folder() checks its owner.
  OpenFolder folder;
  folder.path = absolute_path(attempt.own_folder());
  folder.fd = open_folder(folder.path);
  if (!folder.fd) {
    const int error = errno;
    if (error == ENOENT && options.remove_orphans && attempt.is_of_this_container() && spool.remove()) {
      return RecoverOutcome::kNothing;
    }
    return end_with(RecoverOutcome::kFailed, folder.path + ": " + error_text(error));
  }
  fstat(folder.fd.get(), &folder.found);
  if (folder.found.st_uid != geteuid() && !attempt.is_linked_from(folder)) {
    return end_with(RecoverOutcome::kForeign,
                    "its run folder " + folder.path + " belongs to another user, and has no link to this file");
  }
  return attempt.run(folder);
}

bool is_left_behind(const std::string& spool_path) {
  const SpoolFile spool(spool_path, AT_FDCWD);
  ProcessIdentity process;
  std::int64_t last_sign_ns = 0;
  if (spool.error() != 0 || (spool.owner() != geteuid() && geteuid() != 0)) return false;
  return spool.read_process(process, last_sign_ns) && life_of(process, last_sign_ns, realtime_ns()) == Life::kDead;
}

std::vector<std::string> spools_named_as_ours(const std::string& folder, std::size_t most, std::size_t& foreign) {
  std::vector<std::string> found;
  const std::string ours = "profshim-" + std::to_string(getuid()) + "-";
  foreign = 0;
  const Descriptor opened(open_high(folder.c_str(), O_PATH | O_DIRECTORY));
  if (!opened) return found;
  for (const std::string& name : names_in(opened.get())) {
    struct stat s {};
    if (!name.starts_with(ours) || !name.ends_with(".spool") || found.size() >= most) continue;
    if (fstatat(opened.get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(s.st_mode) && s.st_uid == geteuid()) {
      found.push_back(folder + "/" + name);
    } else {
      ++foreign;
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace profshim::output
