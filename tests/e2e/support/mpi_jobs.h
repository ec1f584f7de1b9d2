// MPI jobs for the end-to-end tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"

namespace profshim::e2e {

enum class Mpi { kOpenMpi, kMpich };
std::string to_string(Mpi mpi);
/// Returns an mpirun job with `ranks` processes. It may oversubscribe the cores and be run by root.
Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command);
/// Returns the installed MPI implementations. Fails the calling test if there is none.
std::vector<Mpi> installed_mpis();

/// Reads the counts that the programs in tests/apps print: one {"rank":R,"function":"MPI_X","count":N} a line.
std::map<int, std::map<std::string, int>> printed_counts(const std::string& out);

/// Returns a spec that records everything from MPI_Init to the end, on all ranks, into `folder`.
std::string record_all_spec(const std::string& folder);

}  // namespace profshim::e2e
