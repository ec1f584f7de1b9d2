#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"

namespace profshim::e2e {

enum class Mpi { kOpenMpi, kMpich };
std::string to_string(Mpi mpi);
Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command);
std::vector<Mpi> installed_mpis();

/// Reads lines that tests/apps print: {"rank":R,"function":"MPI_X","count":N}.
std::map<int, std::map<std::string, int>> printed_counts(const std::string& out);

std::string record_all_spec(const std::string& folder);

}  // namespace profshim::e2e
