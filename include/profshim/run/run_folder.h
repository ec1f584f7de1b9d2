// Run folders, and claims: files that show which process records a rank.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/base/job_identity.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/rank.h"
#include "profshim/spec.h"
#include "profshim/spec/name_pattern.h"

namespace profshim::run {

/// The file that makes a folder that of a run.
inline constexpr const char* kIdentityFile = ".profshim-run";

struct RunFolder {
  std::string path;               // absolute
  std::string run_name;           // with a number if an earlier launch has the name
  std::string id;                 // random, equal on all ranks: tells this run from others that use the folder
  std::int64_t base_time_ns = 0;  // equal on all ranks of the job
  std::string rendezvous_file;    // for leave_rendezvous(); "" = none
  std::string problem;            // why the folder must not be used; "" = it may
  int number = 1;                 // of the folder among those with this run name
};
/// Creates the folder and its file .profshim-run (launch, base time), or joins those of the same launch. Another group
/// of processes of this launch gets a numbered sibling, and so does another launch if its name is ours; else
/// output.overwrite decides. `pattern`: output.folder, absolute. `from`: first number of a sibling that may be used.
RunFolder open_run(const Spec& spec, const std::string& pattern, NameValues names, const JobIdentity& job,
                   std::int64_t now_ns, int from = 1);
/// Returns JobIdentity::launch of a run folder; "" if the folder is none, or its owner is not trusted.
std::string launch_of(const std::string& folder);
/// A run whose processes are dead.
struct DeadRun {
  std::string id, name;
  ProcessIdentity creator;
  std::int64_t began_ns = 0;
  int rank = -1;
};
/// Makes a folder that of `run`, alone. Returns "" or why it cannot.
std::string mark_folder(int folder_fd, const DeadRun& run);
/// Returns RunFolder::id of the run that the folder holds; "" as launch_of().
std::string run_id_of(int folder_fd);
/// Removes the file in which ranks that were started apart agree on the run name, if this rank is the last.
void leave_rendezvous(const std::string& file, const std::string& run_name, const std::string& run_folder);

/// Creates .claim-rankN. Takes over a dead process's claim and describes that process in `found`. After a failure,
/// `found` completes a sentence that begins with "rank N ".
bool claim_rank(const std::string& folder, int rank, std::string& found);
/// Shows that this process is alive. Call every few seconds; may block on the file system.
void touch_claim(const std::string& folder, int rank);
/// True if a live process other than this one has claimed the rank.
bool is_claimed(const std::string& folder, int rank, int folder_fd = -1);
void release_claim(const std::string& folder, int rank);
/// Removes the claim only if `process` made it: a requeued job may have claimed the rank since.
void release_claim_of(const std::string& folder, int rank, const ProcessIdentity& process, int folder_fd = -1);

}  // namespace profshim::run
