#pragma once

#include <string>

#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::session {

/// The spec's file, with its path from the launch folder, and the variables of this process.
SpecSources own_sources();
LoadedSpec load_own_spec();
/// Logs on rank 0, or without a rank: every rank reads the same spec.
void report_problems(const LoadedSpec& loaded, const Rank& rank);
void set_up_log(const Spec& spec);
bool is_process_selected(const Spec& spec);
/// True if the spec selects the rank for windows of steps or of a phase.
bool records(const Spec& spec, const Rank& rank);
/// Warns if the process has no rank, or the spec names a rank that the job lacks.
bool is_rank_selected(const Spec& spec, const Rank& rank);
/// If ranks.source names a variable, MPI's rank is ignored.
Rank rank_by_source(const Spec& spec, const Rank& from_mpi);
/// Returns process.role, or what Ray calls this process, or "".
std::string role_of_process(const Spec& spec);
/// True if no rank in [from, own rank) is known to be selected.
bool is_first_selected(const Spec& spec, const Rank& rank, int from = 0);
/// is_first_selected() among this host's ranks. True without a local rank.
bool is_first_selected_of_host(const Spec& spec, const Rank& rank);

/// Returns the libraries that note_use() has seen, such as "MPI and PyTorch". "" = none, or process.require_any names
/// one of them.
std::string uses_in_vain(const Spec& spec);
/// In a child, which has used nothing yet.
void forget_uses();

}  // namespace profshim::session
