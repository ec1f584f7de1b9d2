#include "profshim/run/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/key_hash.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/run/manifest.h"
#include "profshim/trace/writer.h"
#include "rank_claims.h"
#include "rendezvous.h"
#include "run_identity.h"
#include "small_files.h"

namespace profshim::run {
namespace {

constexpr int kMostRunsOfOneName = 1000;

/// The file shows that ranks of another launcher have joined, so that they come back when they are restarted.
std::string joined_file(const RunIdentity& run, const JobIdentity& job) {
  const std::uint64_t of_run = mixed(mixed(kKeyStart, run.job.key), run.base_time_ns);
  char name[48];
  std::snprintf(name, sizeof name, ".joined-%016llx", static_cast<unsigned long long>(mixed(of_run, job.key)));
  return name;
}

bool is_joined(int folder_fd, const RunIdentity& run, const JobIdentity& job) {
  struct stat found {};
  return run.job.key == job.key || fstatat(folder_fd, joined_file(run, job).c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Ranks that were started apart run at the same time: a launch that has ended, or has this rank, is another one.
bool meets(int folder_fd, const RunIdentity& run, const JobIdentity& job, int rank, std::int64_t now_ns) {
  if (job.rendezvous.empty() || run.job.rendezvous != job.rendezvous) return false;
  if (run.rank == rank || is_rank_recorded(folder_fd, rank)) return false;
  return life_of(run.creator, run.created_ns, now_ns) == Life::kAlive || !recording_into(folder_fd).empty();
}

bool join(int folder_fd, const RunIdentity& run, const JobIdentity& job, int rank, std::int64_t now_ns) {
  if (is_joined(folder_fd, run, job)) return true;
  if (!meets(folder_fd, run, job, rank, now_ns)) return false;
  const Descriptor file(openat_high(folder_fd, joined_file(run, job).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
  return true;
}

/// Time since the epoch.
std::int64_t own_start_ns() {
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const std::int64_t now_ns = since_boot.tv_sec * std::int64_t{1'000'000'000} + since_boot.tv_nsec;
  const std::uint64_t ticks = own_identity().start_time;
  const std::int64_t start_ns =
      ticks == 0 ? now_ns : static_cast<std::int64_t>(ticks) * (1'000'000'000 / sysconf(_SC_CLK_TCK));
  return realtime_ns() - (now_ns - start_ns);
}

/// True for the folder of another process of this rank that ran at the same time, even if it has ended: children that
/// train on their own. A rank that is started again begins later.
bool is_of_twin(const RunIdentity& run, const RunIdentity& own) {
  const bool are_alone = run.world_size <= 1 && own.world_size <= 1 && run.rank == own.rank;
  return are_alone && run.creator != own.creator && own_start_ns() < run.created_ns;
}

/// True for the folder of another group of processes of this launch: rollout engines beside trainers, jobs of their own
/// that one program or script starts. A group that is started again may have another size: its creator has ended.
bool is_of_other_group(const RunIdentity& run, const RunIdentity& own, std::int64_t now_ns) {
  const bool same_size = run.world_size <= 0 || own.world_size <= 0 || run.world_size == own.world_size;
  if (run.role == own.role && same_size) return false;
  return life_of(run.creator, run.created_ns, now_ns) == Life::kAlive || own_start_ns() < run.created_ns;
}

bool has_word(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

bool are_of_one_launch(const JobIdentity& a, const JobIdentity& b) {
  if (a.key == b.key) return true;
  for (std::size_t at = 0; at < a.launch.size();) {
    const std::size_t end = std::min(a.launch.find(' ', at), a.launch.size());
    if (end > at && has_word(b.launch, a.launch.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

/// True for the folder of a program that this process has run.
bool is_of_program_below(const RunIdentity& run) {
  return run.world_size <= 1 && has_word(run.job.ancestors, own_process_word());
}

/// True for the folder of a program that has run this process.
bool is_of_program_above(const RunIdentity& run, const JobIdentity& job) {
  const ProcessIdentity& creator = run.creator;
  const std::string word = creator.host + "/" + std::to_string(creator.pid) + "/" + std::to_string(creator.start_time);
  return creator.pid > 0 && has_word(job.ancestors, word);
}

bool has_windows(int folder_fd) {
  const std::vector<Manifest> manifests = read_manifests_in(folder_fd);
  return std::any_of(manifests.begin(), manifests.end(),
                     [](const Manifest& one) { return !one.windows.empty() || one.removed_traces > 0; });
}

enum class FolderOwner : std::uint8_t {
  kThisJob,
  kOtherGroup,  // of this launch
  kOtherRun,
  kFailed,
};

// With `replace`, takes over another run's folder, unless a live process records into it. `is_our_name`: only this
// launch has the name.
FolderOwner acquire_folder(const std::string& folder, RunIdentity& identity, bool replace, bool is_our_name,
                           std::string& problem) {
  std::string link;
  const Descriptor opened = make_folder(folder, &link);
  if (!opened) {
    problem = link.empty()
                  ? "cannot create " + folder + ": " + error_text(errno) + "; set output.folder to a writable folder"
                  : link + " is a link of another user: set output.folder to the folder to which it leads";
    return FolderOwner::kFailed;
  }
  const int fd = opened.get();
  const JobIdentity wanted = identity.job;
  const int rank = identity.rank;
  std::int64_t now_ns = 0;
  const int error = create_whole(fd, kIdentityFile, to_text(identity), now_ns);
  if (error == 0) return FolderOwner::kThisJob;
  if (error != EEXIST) {
    problem = "cannot write into " + folder + ": " + error_text(error) + "; set output.folder to a writable folder";
    return FolderOwner::kFailed;
  }
  RunIdentity found;
  const bool is_known = read_run_identity(fd, found);
  const bool is_below = is_known && is_of_program_below(found);
  const bool is_ours = is_known && (is_our_name || is_below || is_of_program_above(found, wanted) ||
                                    are_of_one_launch(found.job, wanted));
  // A shell that starts trainers and engines makes each a launch of its own.
  const bool may_meet = is_known && !wanted.rendezvous.empty() && found.job.rendezvous == wanted.rendezvous;
  if ((is_ours || may_meet) && is_of_other_group(found, identity, now_ns)) return FolderOwner::kOtherGroup;
  if (is_ours && is_of_twin(found, identity) && has_windows(fd)) return FolderOwner::kOtherGroup;
  if (is_known && join(fd, found, wanted, rank, now_ns)) {
    identity = found;
    return FolderOwner::kThisJob;
  }
  // A program that this job has run, or an earlier run, has left manifests at most.
  const bool may_be_unused = is_below || (is_known && !is_ours);
  const bool is_unused =
      may_be_unused && life_of(found.creator, found.created_ns, now_ns) == Life::kDead && !has_windows(fd);
  // Jobs of their own that one program starts, such as actors of Ray, may all be of one rank. A short one may have
  // ended before this process came here.
  const bool overlaps = life_of(found.creator, found.created_ns, now_ns) == Life::kAlive ||
                        (!replace && own_start_ns() < found.created_ns);
  if (is_ours && overlaps && !is_unused) return FolderOwner::kOtherGroup;
  if (!replace && !is_unused) return FolderOwner::kOtherRun;
  const std::string owner = recording_into(fd);
  // The live process may be a rank of this job that has just replaced the identity file.
  if (!owner.empty() && !(read_run_identity(fd, found) && is_joined(fd, found, wanted))) {
    problem = "another run is recording into " + folder + " (" + owner +
              "): set output.overwrite to \"new\", or choose another output.folder or profile.run_name";
    return FolderOwner::kFailed;
  }
  if (!replace_whole(fd, kIdentityFile, to_text(identity))) {
    problem = "cannot write into " + folder + "; set output.folder to a writable folder";
    return FolderOwner::kFailed;
  }
  // Another rank may have replaced the file too: all ranks use its present content.
  if (read_run_identity(fd, found) && join(fd, found, wanted, rank, now_ns)) identity = found;
  return FolderOwner::kThisJob;
}

/// True for the folder of a program that records, and has run this process as a rank of another group, or of its own
/// number: the group gets a folder inside.
bool is_of_parent(const std::string& folder, const RunIdentity& own, std::int64_t now_ns) {
  const Descriptor opened = open_folder(folder);
  RunIdentity found;
  if (!opened || !read_run_identity(opened.get(), found) || !is_of_program_above(found, own.job)) return false;
  if (life_of(found.creator, found.created_ns, now_ns) != Life::kAlive) return false;
  return found.rank == own.rank || is_of_other_group(found, own, now_ns);
}

}  // namespace

Joining joining(const std::string& folder, const JobIdentity& job, int rank, std::int64_t now_ns) {
  RunIdentity found;
  struct stat file {};
  const Descriptor opened = open_folder(folder);
  const int fd = opened.get();
  if (!opened || fstatat(fd, kIdentityFile, &file, AT_SYMLINK_NOFOLLOW) != 0) return Joining::kNoRun;
  if (!read_run_identity(fd, found)) return Joining::kOtherRun;
  return is_joined(fd, found, job) || meets(fd, found, job, rank, now_ns) ? Joining::kMayJoin : Joining::kOtherRun;
}

RunFolder open_run(const Spec& spec, const std::string& pattern, NameValues names, const JobIdentity& job,
                   std::int64_t now_ns, int from) {
  const bool has_name = pattern.find("{run_name}") != std::string::npos;
  const bool is_our_name = has_name && spec.profile.run_name.empty();
  RunFolder run;
  std::string first = run_name_for(spec, job);
  if (is_our_name && !job.has_common_name) {
    const Rendezvous point = meet(pattern, names, job, first);
    first = point.run_name;
    run.rendezvous_file = point.file;
  }
  std::string role = names.rank.role.value_or("");
  role = role.substr(0, role.find('\n'));  // the file has lines
  RunIdentity identity{.job = job,
                       .id = random_text(),
                       .base_time_ns = base_time_for(now_ns),
                       .creator = own_identity(),
                       .rank = names.rank.rank,
                       .world_size = names.rank.world_size,
                       .role = role};
  // A name that we made must not keep a launch from being recorded.
  const bool may_be_new = is_our_name || spec.output.overwrite == Overwrite::kNew;
  const std::string inside =
      !has_name && is_of_parent(absolute_path(expand(pattern, names)), identity, now_ns) ? "/children" : "";
  bool is_open = true;
  for (int n = from; is_open && n <= kMostRunsOfOneName; ++n) {
    const std::string number = n == 1 ? "" : "-" + std::to_string(n);
    identity.run_name = names.run_name = first + (has_name ? number : "");
    const std::string path = absolute_path(expand(pattern, names) + inside + (has_name ? "" : number));
    switch (acquire_folder(path, identity, spec.output.overwrite == Overwrite::kYes, is_our_name, run.problem)) {
      case FolderOwner::kThisJob:
        run.path = path;
        run.number = n;
        run.run_name = identity.run_name;
        run.id = identity.id;
        run.base_time_ns = identity.base_time_ns;
        return run;
      case FolderOwner::kFailed:
        return run;
      case FolderOwner::kOtherGroup:
        break;
      case FolderOwner::kOtherRun:
        is_open = may_be_new;
        break;
    }
  }
  names.run_name = first;
  run.problem = absolute_path(expand(pattern, names)) +
                " holds the traces of another run: set output.overwrite to true or \"new\", or "
                "choose another output.folder or profile.run_name";
  return run;
}

}  // namespace profshim::run
