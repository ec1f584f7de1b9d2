// Whether this process records: the spec in force, and its rank in it.
#pragma once

#include "profshim/base.h"
#include "profshim/spec.h"

namespace profshim::session {

LoadedSpec load_own_spec();
void report(const LoadedSpec& loaded, const Rank& rank);
bool process_wanted(const Spec& spec);
Rank rank_by_source(const Spec& spec, const Rank& from_mpi);
bool is_first_selected(const Spec& spec, const Rank& rank, int from = 0);
bool is_first_selected_of_host(const Spec& spec, const Rank& rank);
void warn_about_selection(const Spec& spec, const Rank& rank);

}  // namespace profshim::session
