#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/run_folder.h"
#include "profshim/trace/writer.h"
#include "profshim/write/recover.h"
#include "spool_file.h"
#include "write_recovered_traces.h"

namespace profshim::write {
namespace {

constexpr const char* kInto = "; run: profshim recover --into NEW_FOLDER ";

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

std::string target_of(int folder_fd, const std::string& link) {
  char target[4096];
  const ssize_t n = readlinkat(folder_fd, link.c_str(), target, sizeof target - 1);
  return n < 0 ? "" : std::string(target, static_cast<std::size_t>(n));
}

class Attempt {
 public:
  Attempt(SpoolFile& spool, std::string path, const RecoverOptions& options, std::vector<RecoverNote>& notes)
      : spool_(spool), path_(std::move(path)), options_(options), notes_(notes) {}

  /// Locks and opens the spool. Returns kRecovered if run() may follow.
  RecoverOutcome prepare() {
    if (!spool_.read_head(head_))
      return fail(path_ +
                  ": not a spool (profshim's buffer file), or one of another version of profshim: run that "
                  "version's `profshim recover`, or remove the file");
    if (life_of(head_.process, head_.last_sign_ns, realtime_ns()) == Life::kAlive) return add_running_note();
    if (head_.began_ns < options_.began_since_ns || !spool_.lock()) return RecoverOutcome::kElsewhere;
    if (options_.most_copied > 0 && spool_.bytes_in_use() > options_.most_copied) {
      return fail(path_ + " holds " + format_size(spool_.bytes_in_use()) +
                  " of events of a dead process; run: profshim recover " + path_);
    }
    std::string why_not;
    view_ = spool_.view(options_.most_copied > 0, options_.give_up, why_not);
    return view_ != nullptr ? RecoverOutcome::kRecovered : fail(path_ + ": " + why_not);
  }
  const spool::View& view() const { return *view_; }
  const SpoolHead& head() const { return head_; }

  /// A folder with the spool's path may hold another run.
  bool is_of_run_in(const OpenFolder& folder) const {
    const std::string there = run::run_id_of(folder.fd.get());
    if (head_.run_id.empty() != there.empty()) return is_linked_from(folder);
    return head_.run_id == there;
  }

  bool is_linked_from(const OpenFolder& folder) const { return !own_links(folder).empty(); }

  /// Removes links before the spool: if killed in between, no link dangles.
  RecoverOutcome run(const OpenFolder& folder) {
    const RecoverOutcome outcome = Recovery(*view_, folder, spool_, path_, head_, options_, notes_).run();
    if (outcome == RecoverOutcome::kFailed) return outcome;
    remove_links(folder);
    spool_.remove();
    run::release_claim_of(folder.path, view_->header().rank, head_.process, folder.fd.get());
    return outcome;
  }

  void remove_links(const OpenFolder& folder) const {
    for (const auto& [name, link] : own_links(folder)) remove_if_same(folder.fd.get(), name, link);
  }

 private:
  RecoverOutcome fail(const std::string& why) {
    notes_.push_back({path_, -1, -1, "", why});
    return RecoverOutcome::kFailed;
  }

  RecoverOutcome add_running_note() {
    const std::string process = "process " + std::to_string(head_.process.pid);
    notes_.push_back({path_, -1, -1, "",
                      can_be_seen(head_.process) ? process + " is still running"
                                                 : process + " was still running on " + head_.process.host +
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
  SpoolHead head_;
  std::unique_ptr<spool::View> view_;
};

bool is_over(RecoverOutcome outcome) {
  return outcome == RecoverOutcome::kRecovered || outcome == RecoverOutcome::kNothing;
}

/// Makes the folder, for the run of the spool alone. Returns "" or why it cannot.
std::string make_folder_for(const SpoolHead& head, OpenFolder& folder) {
  folder.fd = make_folder(folder.path);
  if (!folder.fd) return error_text(errno);
  fstat(folder.fd.get(), &folder.found);
  return run::mark_folder(folder.fd.get(), {.id = head.run_id,
                                            .name = head.run_name,
                                            .creator = head.process,
                                            .began_ns = head.began_ns,
                                            .rank = head.rank});
}

}  // namespace

OpenFolder open_checked(const std::string& path) {
  OpenFolder folder;
  folder.path = absolute_path(path);
  folder.fd = open_folder(folder.path);
  if (folder.fd) fstat(folder.fd.get(), &folder.found);
  return folder;
}

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
  if (!attempt.is_of_run_in(folder)) {
    end_with(RecoverOutcome::kNoFolder, path + " is of an earlier run of this folder" + kInto + path);
    notes.back().is_of_other_run = true;
    return RecoverOutcome::kNoFolder;
  }
  if (folder.found.st_uid != us) {
    // In another user's folder, only spools of jobs that recorded into that folder are recovered.
    const OpenFolder own = open_run_folder(attempt.head().folder);
    if (!own.fd || !is_same_file(own.found, folder.found)) {
      return end_with(
          RecoverOutcome::kForeign,
          "skipped: this spool belongs to another run folder; run: profshim recover " + attempt.head().folder);
    }
  }
  const RecoverOutcome outcome = attempt.run(folder);
  if (is_over(outcome)) remove_if_same(folder.fd.get(), name, entry);
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
  const std::string own_folder = attempt.head().folder;
  OpenFolder folder;
  if (!options.into.empty()) {
    folder.path = options.into;
    if (const std::string why_not = make_folder_for(attempt.head(), folder); !why_not.empty())
      return end_with(RecoverOutcome::kFailed, folder.path + ": " + why_not);
    const RecoverOutcome outcome = attempt.run(folder);
    if (const OpenFolder old = open_checked(own_folder); old.fd && is_over(outcome)) attempt.remove_links(old);
    return outcome;
  }
  if (own_folder.empty()) {
    return end_with(RecoverOutcome::kFailed, "does not name its run folder; run: profshim recover RUN_FOLDER");
  }
  folder = open_checked(own_folder);
  if (!folder.fd && (errno == ENOENT || errno == ENOTDIR)) {
    return end_with(RecoverOutcome::kNoFolder, "its run folder " + folder.path + " is gone" + kInto + path);
  }
  if (!folder.fd) return end_with(RecoverOutcome::kFailed, folder.path + ": " + error_text(errno));
  if (!attempt.is_of_run_in(folder)) {
    return end_with(RecoverOutcome::kNoFolder,
                    "its run folder " + folder.path + " holds another run now" + kInto + path);
  }
  if (folder.found.st_uid != geteuid() && !attempt.is_linked_from(folder)) {
    return end_with(RecoverOutcome::kForeign,
                    "its run folder " + folder.path + " belongs to another user, and has no link to this file");
  }
  return attempt.run(folder);
}

}  // namespace profshim::write
