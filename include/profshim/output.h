// Where traces go: names, folders, the identity of the run, claims. Used by the session, by recover and by
// the tool (explain, ls). Writer thread and tool only, but for open_run() inside activate().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/job_identity.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::output {

/// The values a pattern may name. `step` = `first_step`.
struct NameValues {
  Rank rank;
  std::string run_name, host, phase, job_id;
  int pid = 0;
  std::int64_t first_step = 0, last_step = 0, window = 0, epoch = 0;
  std::int64_t time_ns = 0;
};
/// All names that may stand in braces.
const std::vector<std::string_view>& pattern_variables();
/// "" when the pattern is fine, else one sentence with a hint (unknown variable, unbalanced brace, cloud address ...).
std::string check_pattern(std::string_view pattern, bool is_folder);
std::string expand(std::string_view pattern, const NameValues& values);

/// profile.run_name, or made from the job's identity and the program's name; safe as one path component.
std::string run_name_for(const Spec& spec, const JobIdentity& job);

/// The file name of one window. Adds what the pattern lacks (-rank3, -w2) so that no two windows or ranks of a run
/// meet; `added` says what was added.
std::string trace_file_name(const Spec& spec, const NameValues& values, std::string& added);

/// `name` with `part` in front of the endings readers look for: ("a/x.pt.trace.json", "_part2") ->
/// "a/x_part2.pt.trace.json".
std::string with_part(std::string name, const std::string& part);

/// A folder this run may write into.
struct RunFolder {
  std::string path;               // absolute
  std::int64_t base_time_ns = 0;  // of the whole job
  std::string problem;            // not empty: refused, one sentence
};
/// Creates the folder and its run-identity file (.profshim-run, O_EXCL: identity and base time), or checks that the one
/// that is there is ours (same job), or follows output.overwrite.
RunFolder open_run(const Spec& spec, const std::string& folder, const JobIdentity& job, std::int64_t now_ns);

/// Claims a rank in the folder: .claim-rankN with the identity of this process, made with O_EXCL. A claim of a process
/// that is gone is taken over, and `found` says whose it was ("" = nobody's). False: another live process has it, or it
/// cannot be had; `found` says so, behind "rank N ".
bool claim_rank(const std::string& folder, int rank, std::string& found);
/// The sign of life of the process that claimed the rank: the time of the file. Every few seconds; may block as any
/// write into the folder.
void touch_claim(const std::string& folder, int rank);
/// Is the rank claimed by a process that lives?
bool is_claimed(const std::string& folder, int rank, int folder_fd = -1);
/// Removes the claim of this process.
void release_claim(const std::string& folder, int rank);
/// Only that process's: a job that was queued again may have claimed the rank since.
void release_claim_of(const std::string& folder, int rank, const ProcessIdentity& process, int folder_fd = -1);

}  // namespace profshim::output
