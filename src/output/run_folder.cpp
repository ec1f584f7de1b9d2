// Claims the run folder: writes the job's identity file, and one claim file per rank.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/safe_files.h"
#include "profshim/output.h"
#include "profshim/trace/writer.h"

namespace profshim::output {
namespace {

constexpr const char* kIdentityFile = ".profshim-run";

// Other processes see the whole text or no file. `now_ns`: the file system's clock, the same for all hosts.
int create_whole(const std::string& folder, const std::string& name, const std::string& text, std::int64_t& now_ns) {
  AtomicFile file;
  if (!file.open(folder, name) || !file.write(text.data(), text.size())) return file.error();
  now_ns = file.written_at_ns();
  return file.publish(AtomicFile::Existing::kKeepExisting) ? 0 : file.error();
}

bool replace_whole(const std::string& folder, const std::string& name, const std::string& text) {
  AtomicFile file;
  return file.open(folder, name) && file.write(text.data(), text.size()) &&
         file.publish(AtomicFile::Existing::kReplace);
}

struct Identity {
  JobIdentity job;
  std::int64_t base_time_ns = 0;
};

std::string to_text(const Identity& identity) {
  const JobIdentity& job = identity.job;
  std::string text = "profshim run\njob " + job.key + "\nbase " + std::to_string(identity.base_time_ns) + "\n";
  if (job.rendezvous.empty()) return text;
  return text + "rendezvous " + job.rendezvous + "\nhost " + job.host + "\nstarted " + std::to_string(job.started_s) +
         "\n";
}

std::string line_after(const std::string& text, const char* word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = at + std::strlen(word);
  return text.substr(from, text.find('\n', from) - from);
}

// Ignores a file whose owner is not root, us or the folder's owner: the file sets our base time.
bool read_identity(const std::string& folder, Identity& identity) {
  std::string text;
  int error = 0;
  struct stat file {
  }, owner{};
  if (!read_small_file(folder + "/" + kIdentityFile, kMostSmallFile, text, error, &file)) return false;
  if (file.st_uid != geteuid() && file.st_uid != 0) {
    if (stat(folder.c_str(), &owner) != 0 || owner.st_uid != file.st_uid) return false;
  }
  identity.job.key = line_after(text, "\njob ");
  identity.job.rendezvous = line_after(text, "\nrendezvous ");
  identity.job.host = line_after(text, "\nhost ");
  identity.job.started_s = std::strtoll(line_after(text, "\nstarted ").c_str(), nullptr, 10);
  identity.base_time_ns = std::strtoll(line_after(text, "\nbase ").c_str(), nullptr, 10);
  return !identity.job.key.empty() && identity.base_time_ns > 0;
}

/// Launchers at one rendezvous start within the time that they wait for each other (15 minutes in PyTorch).
bool is_same_job(const JobIdentity& a, const JobIdentity& b) {
  constexpr std::int64_t kWaits_s = 15 * 60;
  if (a.key == b.key) return true;
  return !a.rendezvous.empty() && a.rendezvous == b.rendezvous && a.host != b.host &&
         std::abs(a.started_s - b.started_s) <= kWaits_s;
}

constexpr const char* kClaim = ".claim-rank";
std::string claim_name(int rank) { return kClaim + std::to_string(rank); }

std::string claim_text(const ProcessIdentity& process) { return to_text(process) + "\n"; }

struct Claim {
  std::string text;
  ProcessIdentity process;
  std::int64_t touched_ns = 0;
};

// Returns 0 or an errno: ENOENT = no claim, EINVAL = not a claim.
int read_claim(int folder_fd, const std::string& name, Claim& claim) {
  struct stat found {};
  int error = 0;
  if (!read_small_file(name, kMostSmallFile, claim.text, error, &found, folder_fd)) return error;
  claim.touched_ns = std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
  return parse_identity(claim.text, claim.process) ? 0 : EINVAL;
}

bool is_of_other_live_process(const Claim& claim, std::int64_t now_ns) {
  return claim.process != own_identity() && life_of(claim.process, claim.touched_ns, now_ns) == Life::kAlive;
}

std::string describe(const ProcessIdentity& process) {
  return "process " + std::to_string(process.pid) + " on " + process.host;
}

std::string recording_into(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  if (directory == nullptr) return {};
  while (const dirent* const entry = readdir(directory.get())) {
    Claim claim;
    if (std::strncmp(entry->d_name, kClaim, std::strlen(kClaim)) != 0) continue;
    if (read_claim(dirfd(directory.get()), entry->d_name, claim) != 0) continue;
    if (is_of_other_live_process(claim, realtime_ns())) return describe(claim.process);
  }
  return {};
}

// Removes the claim if it still holds `text`. Moves it aside first: another process may be replacing it.
void remove_claim(int folder_fd, const std::string& name, const std::string& text) {
  const std::string aside = "." + random_text() + ".old-claim";
  if (renameat(folder_fd, name.c_str(), folder_fd, aside.c_str()) != 0) return;
  Claim moved;
  if (read_claim(folder_fd, aside, moved) != 0 || moved.text != text) {
    (void)!linkat(folder_fd, aside.c_str(), folder_fd, name.c_str(), 0);
  }
  unlinkat(folder_fd, aside.c_str(), 0);
}

enum class FolderOwner : std::uint8_t {
  kThisJob,
  kOtherRun,
  kFailed,
};

// With `replace`, takes over another run's folder, unless a live process records into it.
FolderOwner acquire_folder(const std::string& folder, Identity& identity, bool replace, std::string& problem) {
  if (const int error = make_folders(folder); error != 0) {
    problem = "cannot create " + folder + ": " + std::strerror(error) + "; set output.folder to a writable folder";
    return FolderOwner::kFailed;
  }
  const JobIdentity wanted = identity.job;
  std::int64_t now_ns = 0;
  const int error = create_whole(folder, kIdentityFile, to_text(identity), now_ns);
  if (error == 0) return FolderOwner::kThisJob;
  if (error != EEXIST) {
    problem = "cannot write into " + folder + ": " + std::strerror(error) + "; set output.folder to a writable folder";
    return FolderOwner::kFailed;
  }
  Identity found;
  if (read_identity(folder, found) && is_same_job(found.job, wanted)) {
    identity = found;
    return FolderOwner::kThisJob;
  }
  if (!replace) return FolderOwner::kOtherRun;
  const std::string owner = recording_into(folder);
  // The live process may be a rank of this job that has just replaced the identity file.
  if (!owner.empty() && !(read_identity(folder, found) && is_same_job(found.job, wanted))) {
    problem = "another run is recording into " + folder + " (" + owner +
              "): set output.overwrite to \"new\", or choose another output.folder or profile.run_name";
    return FolderOwner::kFailed;
  }
  if (!replace_whole(folder, kIdentityFile, to_text(identity))) {
    problem = "cannot write into " + folder + "; set output.folder to a writable folder";
    return FolderOwner::kFailed;
  }
  // Another rank may have replaced the file too: all ranks use its present content.
  if (read_identity(folder, found) && is_same_job(found.job, wanted)) identity = found;
  return FolderOwner::kThisJob;
}

}  // namespace

RunFolder open_run(const Spec& spec, const std::string& folder, const JobIdentity& job, std::int64_t now_ns) {
  RunFolder run;
  Identity identity{job, base_time_for(now_ns)};
  const std::string first = absolute_path(folder);
  const int most = spec.output.overwrite == Overwrite::kNew ? 1000 : 1;
  for (int n = 1; n <= most; ++n) {
    const std::string path = n == 1 ? first : first + "-" + std::to_string(n);
    switch (acquire_folder(path, identity, spec.output.overwrite == Overwrite::kYes, run.problem)) {
      case FolderOwner::kThisJob:
        run.path = path;
        run.base_time_ns = identity.base_time_ns;
        return run;
      case FolderOwner::kFailed:
        return run;
      case FolderOwner::kOtherRun:
        break;
    }
  }
  run.problem = first +
                " holds the traces of another run: set output.overwrite to true or \"new\", or "
                "choose another output.folder or profile.run_name";
  return run;
}

bool claim_rank(const std::string& folder, int rank, std::string& found) {
  const std::string name = claim_name(rank);
  const std::string text = claim_text(own_identity());
  const Descriptor opened = open_folder(folder);
  found.clear();
  for (int tries = 0; tries < 3; ++tries) {
    std::int64_t now_ns = 0;
    const int error = create_whole(folder, name, text, now_ns);
    if (error == 0) return true;
    if (error != EEXIST) {
      found =
          "cannot be recorded in " + folder + ": " + std::strerror(error) + "; set output.folder to a writable folder";
      return false;
    }
    Claim present;
    const int unreadable = read_claim(opened.get(), name, present);
    if (unreadable == ENOENT) continue;  // the claim was released
    if (unreadable != 0) {
      found = "cannot be recorded in " + folder + ": remove " + folder + "/" + name + ", which is not a claim file";
      return false;
    }
    found = describe(present.process);
    if (is_of_other_live_process(present, now_ns)) {
      found = "is already recorded in " + folder + " by " + found +
              "; if that is another run, set another output.folder or profile.run_name";
      return false;
    }
    remove_claim(opened.get(), name, present.text);
  }
  found = "is already recorded in " + folder + " by several processes";
  return false;
}

void touch_claim(const std::string& folder, int rank) {
  utimensat(AT_FDCWD, (folder + "/" + claim_name(rank)).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool is_claimed(const std::string& folder, int rank, int folder_fd) {
  const Descriptor opened(folder_fd < 0 ? open_folder(folder).release() : -1);
  Claim claim;
  return read_claim(folder_fd < 0 ? opened.get() : folder_fd, claim_name(rank), claim) == 0 &&
         is_of_other_live_process(claim, realtime_ns());
}

void release_claim(const std::string& folder, int rank) { release_claim_of(folder, rank, own_identity()); }

void release_claim_of(const std::string& folder, int rank, const ProcessIdentity& process, int folder_fd) {
  const Descriptor opened(folder_fd < 0 ? open_folder(folder).release() : -1);
  const int fd = folder_fd < 0 ? opened.get() : folder_fd;
  Claim claim;
  if (read_claim(fd, claim_name(rank), claim) != 0 || claim.process.pid != process.pid) return;
  if (claim.process.host == process.host && claim.process.start_time == process.start_time) {
    remove_claim(fd, claim_name(rank), claim.text);
  }
}

}  // namespace profshim::output
