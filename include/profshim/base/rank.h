#pragma once

#include <optional>
#include <string>
#include <vector>

namespace profshim {

/// The rank of this process in its job; -1 = unknown.
struct Rank {
  int rank = -1;
  int world_size = -1;
  int local_rank = -1;
  int local_world_size = -1;
  int node_rank = -1;
  std::string host;
  std::string source;               // source of `rank`: "mpi", "RANK", "OMPI_COMM_WORLD_RANK", ...
  std::optional<std::string> role;  // "" = has none; nothing = unknown
};

/// Reads the variables of torchrun, Open MPI, PMIx, hydra, PALS, MVAPICH, Flux, JSM and Slurm, in this order of trust.
Rank rank_from_environment();

/// For a rank that the program has set (torch.distributed under Lightning). Local and node rank come from the
/// environment, unless WORLD_SIZE there differs.
Rank rank_from_program(int rank, int world_size, const char* source);

/// Returns the environment variables that contradict `actual`, each as "NAME=value".
std::vector<std::string> rank_contradictions(const Rank& actual);

}  // namespace profshim
