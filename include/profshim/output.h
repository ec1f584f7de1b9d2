// Names of runs and traces, run folders, and claims: files that show which process records a rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/job_identity.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::output {

/// The file that makes a folder that of a run.
inline constexpr const char* kIdentityFile = ".profshim-run";

/// Values of pattern_variables(). {step} is first_step.
struct NameValues {
  Rank rank;
  std::string run_name, host, phase, job_id;
  int pid = 0;
  std::int64_t first_step = 0, last_step = 0, window = 0, epoch = 0;
  std::int64_t occurrence = 0;  // of the phase
  std::int64_t time_ns = 0;
  std::map<std::string_view, std::string> words = {};  // by variable: used instead of its value, to show a plan
};
const std::vector<std::string_view>& pattern_variables();
/// Returns "" if the pattern is valid, else one sentence with a hint.
std::string check_pattern(std::string_view pattern, bool is_folder);
std::string expand(std::string_view pattern, const NameValues& values);

/// Returns profile.run_name, or a name from program and job, as a safe path component.
std::string run_name_for(const Spec& spec, const JobIdentity& job);

/// The patterns in force of the run folder, and of traces in it. If phases have windows, a folder that depends on
/// {phase} belongs to the traces.
struct Patterns {
  std::string folder, file;
};
Patterns patterns_of(const Spec& spec);

/// If the patterns of folder and file do not distinguish ranks or windows, appends "-rank3" or "-w2" to name and
/// `added`. Sets the ending .gz by output.gzip.
std::string trace_file_name(const Spec& spec, const NameValues& values, std::string& added);

/// Returns "a/x_part2.pt.trace.json" for "a/x.pt.trace.json" and "_part2".
std::string with_part(std::string name, const std::string& part);

struct RunFolder {
  std::string path;               // absolute
  std::string run_name;           // with a number if an earlier launch has the name
  std::string id;                 // random, equal on all ranks: tells this run from others that use the folder
  std::int64_t base_time_ns = 0;  // equal on all ranks of the job
  std::string meeting_file;       // for leave_meeting(); "" = none
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
/// Returns RunFolder::id of the run that the folder holds; "" as launch_of().
std::string run_id_of(int folder_fd);
/// Removes the file in which ranks that were started apart agree on the run name, if this rank is the last.
void leave_meeting(const std::string& file, const std::string& run_name, const std::string& run_folder);

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

}  // namespace profshim::output
