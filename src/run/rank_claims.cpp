#include "rank_claims.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/run_folder.h"
#include "small_files.h"

namespace profshim::run {
namespace {

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

}  // namespace

std::string recording_into(int folder_fd) {
  for (const std::string& name : names_in(folder_fd)) {
    Claim claim;
    if (!name.starts_with(kClaim) || read_claim(folder_fd, name, claim) != 0) continue;
    if (is_of_other_live_process(claim, realtime_ns())) return describe(claim.process);
  }
  return {};
}

bool is_rank_recorded(int folder_fd, int rank) {
  for (const std::string& name : {claim_name(rank), "manifest-rank" + std::to_string(rank) + ".json"}) {
    struct stat found {};
    if (fstatat(folder_fd, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return true;
  }
  return false;
}

bool claim_rank(const std::string& folder, int rank, std::string& found) {
  const std::string name = claim_name(rank);
  const std::string text = claim_text(own_identity());
  const Descriptor opened = open_folder(folder);
  const int unopened = errno;
  found.clear();
  for (int tries = 0; tries < 3; ++tries) {
    std::int64_t now_ns = 0;
    const int error = opened ? create_whole(opened.get(), name, text, now_ns) : unopened;
    if (error == 0) return true;
    if (error != EEXIST) {
      found = "cannot be recorded in " + folder + ": " + error_text(error) + "; set output.folder to a writable folder";
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
    remove_if_unchanged(opened.get(), name, present.text);
  }
  found = "is already recorded in " + folder + " by several processes";
  return false;
}

void touch_claim(const std::string& folder, int rank) {
  const Descriptor opened = open_folder(folder);
  if (opened) utimensat(opened.get(), claim_name(rank).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
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
    remove_if_unchanged(fd, claim_name(rank), claim.text);
  }
}

}  // namespace profshim::run
