// Names of traces, the run folder, its identity, and the claims of ranks. Used by the session and the tool. Writer
// thread and tool only, except open_run(), which activate() calls.
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

/// The values of the variables in a pattern. {step} is first_step.
struct NameValues {
  Rank rank;
  std::string run_name, host, phase, job_id;
  int pid = 0;
  std::int64_t first_step = 0, last_step = 0, window = 0, epoch = 0;
  std::int64_t time_ns = 0;
};
/// Returns the names of all variables.
const std::vector<std::string_view>& pattern_variables();
/// Returns "" for a valid pattern, or else one sentence with a hint (unknown variable, unbalanced brace, cloud
/// address).
std::string check_pattern(std::string_view pattern, bool is_folder);
std::string expand(std::string_view pattern, const NameValues& values);

/// Returns profile.run_name, or a name made from the program's name and the identity of the job. Safe as one path
/// component.
std::string run_name_for(const Spec& spec, const JobIdentity& job);

/// Returns the file name of one window. Adds "-rank3" or "-w2" if the pattern does not distinguish ranks or windows,
/// and returns the addition in `added`.
std::string trace_file_name(const Spec& spec, const NameValues& values, std::string& added);

/// Inserts `part` before the ending that readers look for: ("a/x.pt.trace.json", "_part2") ->
/// "a/x_part2.pt.trace.json".
std::string with_part(std::string name, const std::string& part);

/// The folder of a run.
struct RunFolder {
  std::string path;               // absolute
  std::int64_t base_time_ns = 0;  // the same for all ranks of the job
  std::string problem;            // not empty: the folder must not be used; one sentence
};
/// Creates the folder and its identity file (.profshim-run: identity of the job and base time). If the folder belongs
/// to the same job already, uses it. If it belongs to another job, follows output.overwrite.
RunFolder open_run(const Spec& spec, const std::string& folder, const JobIdentity& job, std::int64_t now_ns);

/// Claims a rank in the folder by creating .claim-rankN with the identity of this process. Takes over the claim of a
/// dead process and describes that process in `found` ("" = there was none). Returns false if another live process has
/// the rank or the claim cannot be written; `found` is then the rest of a sentence that begins with "rank N ".
bool claim_rank(const std::string& folder, int rank, std::string& found);
/// Updates the time of the claim file, the sign of life of this process. Called every few seconds; may block on the
/// file system.
void touch_claim(const std::string& folder, int rank);
/// Returns true if a live process other than this one has claimed the rank.
bool is_claimed(const std::string& folder, int rank, int folder_fd = -1);
/// Removes the claim of this process.
void release_claim(const std::string& folder, int rank);
/// Removes the claim only if `process` has it: a job that was queued again may have claimed the rank since.
void release_claim_of(const std::string& folder, int rank, const ProcessIdentity& process, int folder_fd = -1);

}  // namespace profshim::output
