// Decides whether this process records, from the spec, the process and its rank, and which rank logs for the job.
// Called once, when the process becomes a rank.
#pragma once

#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Loads the spec that the environment names.
LoadedSpec load_own_spec();
/// Logs the problems of the spec, on rank 0 or a process without a rank: every rank reads the same spec. Many errors
/// are cut short, and the last one also tells the consequence.
void report_problems(const LoadedSpec& loaded, const Rank& rank);
/// Applies the log level and log file of the spec.
void set_up_log(const Spec& spec);
/// Returns true if process.match and process.exclude select this process.
bool is_process_selected(const Spec& spec);
/// Returns the rank by ranks.source. If that names a variable, the variable decides and MPI's answer is ignored.
Rank rank_by_source(const Spec& spec, const Rank& from_mpi);
/// Returns true if no rank in [from, own rank) is selected, as far as this process knows: then it speaks for them.
bool is_first_selected(const Spec& spec, const Rank& rank, int from = 0);
/// As is_first_selected(), among the ranks of this host, for problems that may concern a whole host while there is no
/// run folder in which ranks could agree on a speaker. If the launcher does not tell local ranks, each host counts as
/// having one rank.
bool is_first_selected_of_host(const Spec& spec, const Rank& rank);
/// Warns about ranks in ranks.select that do not exist; rank 0 only.
void warn_about_selection(const Spec& spec, const Rank& rank);

}  // namespace profshim::session
