#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "run_under_shim.h"

namespace profshim::e2e {

enum class Mpi { kOpenMpi, kMpich };
std::string to_string(Mpi mpi);
Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command);
/// A variable for jobs without a launcher: Open MPI starts no daemon (orted), which it needs only to start more ranks.
inline const std::pair<std::string, std::string> kNoDaemon = {"OMPI_MCA_ess_singleton_isolated", "1"};
std::vector<Mpi> installed_mpis();

/// Reads lines that tests/apps print: {"rank":R,"function":"MPI_X","count":N}.
std::map<int, std::map<std::string, int>> printed_counts(const std::string& out);

std::string record_all_spec(const std::string& folder);

}  // namespace profshim::e2e
