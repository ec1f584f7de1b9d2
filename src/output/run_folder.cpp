// Whose folder is it: the identity of the run, and one claim per rank.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "profshim/output.h"
#include "profshim/trace.h"

namespace profshim::output {
namespace {

constexpr const char* kIdentityFile = "/.profshim-run";

// Made under a name of its own and linked into place: whoever reads the identity reads all of it. EEXIST: somebody
// else's.
int create_whole(const std::string& path, const std::string& text) {
  AtomicFile file;
  if (!file.open(path) || !file.write(text.data(), text.size())) return file.error();
  return file.publish(AtomicFile::Existing::kKeepExisting) ? 0 : file.error();
}

bool replace_whole(const std::string& path, const std::string& text) {
  AtomicFile file;
  return file.open(path) && file.write(text.data(), text.size()) && file.publish(AtomicFile::Existing::kReplace);
}

struct Identity {
  JobIdentity job;
  std::int64_t base_time_ns = 0;
};

std::string to_text(const Identity& identity) {
  const JobIdentity& job = identity.job;
  std::string text = "profshim run\njob " + job.key + "\nbase " + std::to_string(identity.base_time_ns) + "\n";
  if (job.meeting.empty()) return text;
  return text + "meeting " + job.meeting + "\nhost " + job.host + "\nstarted " + std::to_string(job.started_s) + "\n";
}

std::string line_after(const std::string& text, const char* word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = at + std::strlen(word);
  return text.substr(from, text.find('\n', from) - from);
}

bool read_identity(const std::string& folder, Identity& identity) {
  std::string text;
  int error = 0;
  if (!read_file(folder + kIdentityFile, text, error)) return false;
  identity.job.key = line_after(text, "\njob ");
  identity.job.meeting = line_after(text, "\nmeeting ");
  identity.job.host = line_after(text, "\nhost ");
  identity.job.started_s = std::strtoll(line_after(text, "\nstarted ").c_str(), nullptr, 10);
  identity.base_time_ns = std::strtoll(line_after(text, "\nbase ").c_str(), nullptr, 10);
  return !identity.job.key.empty() && identity.base_time_ns > 0;
}

/// One job: by its number or launcher, or as another host's part of it. Launchers that wait for each other were started
/// within the time that they wait (15 minutes in PyTorch).
bool is_same_job(const JobIdentity& a, const JobIdentity& b) {
  constexpr std::int64_t kWaits_s = 15 * 60;
  if (a.key == b.key) return true;
  return !a.meeting.empty() && a.meeting == b.meeting && a.host != b.host &&
         std::abs(a.started_s - b.started_s) <= kWaits_s;
}

constexpr const char* kClaim = ".claim-rank";
std::string claim_path(const std::string& folder, int rank) { return folder + "/" + kClaim + std::to_string(rank); }

std::string own_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

std::string claim_text(const std::string& host, int pid, std::uint64_t start_time) {
  return host + " " + std::to_string(pid) + " " + std::to_string(start_time) + "\n";
}

enum class Elsewhere : std::uint8_t { kLives, kIsGone };

// `elsewhere`: what is believed of a process on another host, which cannot be looked at.
bool owner_lives(const std::string& text, Elsewhere elsewhere) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  if (text.substr(0, first) != own_host()) return elsewhere == Elsewhere::kLives;
  const int pid = std::atoi(text.c_str() + first + 1);
  const std::uint64_t start = std::strtoull(text.c_str() + second + 1, nullptr, 10);
  return pid != getpid() && process_start_time(pid) == start && start != 0;
}

// The process of this host that records into the folder; "" when there is none.
std::string recording_into(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  if (directory == nullptr) return {};
  while (const dirent* const entry = readdir(directory.get())) {
    std::string text;
    int error = 0;
    if (std::strncmp(entry->d_name, kClaim, std::strlen(kClaim)) != 0) continue;
    if (!read_file(folder + "/" + entry->d_name, text, error)) continue;
    if (owner_lives(text, Elsewhere::kIsGone)) return "process " + text.substr(0, text.find('\n'));
  }
  return {};
}

enum class Taken : std::uint8_t { kOurs, kForeign, kFailed };

// Ours, made now or by another rank of this job; or somebody else's.
Taken take(const std::string& folder, Identity& identity, bool replace, std::string& problem) {
  if (const int error = make_folders(folder); error != 0) {
    problem =
        "cannot create " + folder + ": " + std::strerror(error) + "; set output.folder to a folder that can be written";
    return Taken::kFailed;
  }
  const JobIdentity wanted = identity.job;
  const int error = create_whole(folder + kIdentityFile, to_text(identity));
  if (error == 0) return Taken::kOurs;
  if (error != EEXIST) {
    problem = "cannot write into " + folder + ": " + std::strerror(error) +
              "; set output.folder to a folder that can be written";
    return Taken::kFailed;
  }
  Identity found;
  if (read_identity(folder, found) && is_same_job(found.job, wanted)) {
    identity = found;
    return Taken::kOurs;
  }
  if (!replace) return Taken::kForeign;
  const std::string owner = recording_into(folder);
  // Or a rank of this job has replaced it just now.
  if (!owner.empty() && !(read_identity(folder, found) && is_same_job(found.job, wanted))) {
    problem = "another run records into " + folder + " (" + owner +
              "): set output.overwrite to \"new\", or another output.folder or profile.run_name";
    return Taken::kFailed;
  }
  if (!replace_whole(folder + kIdentityFile, to_text(identity))) {
    problem = "cannot write into " + folder;
    return Taken::kFailed;
  }
  // Another rank of this job may have replaced it a moment later: what is there now counts for all.
  if (read_identity(folder, found) && is_same_job(found.job, wanted)) identity = found;
  return Taken::kOurs;
}

}  // namespace

RunFolder open_run(const Spec& spec, const std::string& folder, const JobIdentity& job, std::int64_t now_ns) {
  RunFolder run;
  Identity identity{job, base_time_for(now_ns)};
  const std::string first = absolute_path(folder);
  const int most = spec.output.overwrite == Overwrite::kNew ? 1000 : 1;
  for (int n = 1; n <= most; ++n) {
    const std::string path = n == 1 ? first : first + "-" + std::to_string(n);
    switch (take(path, identity, spec.output.overwrite == Overwrite::kYes, run.problem)) {
      case Taken::kOurs:
        run.path = path;
        run.base_time_ns = identity.base_time_ns;
        return run;
      case Taken::kFailed:
        return run;
      case Taken::kForeign:
        break;
    }
  }
  run.problem = first +
                " holds the traces of another run: set output.overwrite to true or \"new\", or "
                "another output.folder or profile.run_name";
  return run;
}

bool claim_rank(const std::string& folder, int rank, std::string& owner) {
  const std::string path = claim_path(folder, rank);
  const std::string text = claim_text(own_host(), getpid(), process_start_time(getpid()));
  for (int tries = 0; tries < 3; ++tries) {
    const int error = create_whole(path, text);
    if (error == 0) return true;
    if (error != EEXIST) {
      owner = std::string("it cannot be claimed: ") + std::strerror(error);
      return false;
    }
    std::string present;
    int read_error = 0;
    if (!read_file(path, present, read_error)) continue;  // released a moment ago
    if (owner_lives(present, Elsewhere::kLives)) {
      owner = "process " + present.substr(0, present.find('\n'));
      return false;
    }
    unlink(path.c_str());
  }
  owner = "several processes";
  return false;
}

void release_claim(const std::string& folder, int rank) { unlink(claim_path(folder, rank).c_str()); }

void release_claim_of(const std::string& folder, int rank, const std::string& host, int pid, std::uint64_t start_time) {
  std::string present;
  int error = 0;
  if (read_file(claim_path(folder, rank), present, error) && present == claim_text(host, pid, start_time)) {
    release_claim(folder, rank);
  }
}

}  // namespace profshim::output
