// MPI jobs for the end-to-end tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"

namespace profshim::e2e {

enum class Mpi { kOpenMpi, kMpich };
std::string to_string(Mpi mpi);
/// mpirun of that implementation with `ranks` processes, whatever this machine's core count and whoever runs it.
Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command);
/// Those of the two that are installed; never empty, or the test that calls it fails.
std::vector<Mpi> installed_mpis();

/// Counts that the programs under tests/apps print themselves: {"rank":R,"function":"MPI_X","count":N} per line.
std::map<int, std::map<std::string, int>> printed_counts(const std::string& out);

/// A spec that records everything from MPI_Init to the end, on all ranks, into `folder`.
std::string record_all_spec(const std::string& folder);

}  // namespace profshim::e2e
