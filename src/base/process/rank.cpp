#include "profshim/base/rank.h"

#include <unistd.h>

#include <array>
#include <cstring>

#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

struct Launcher {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;
  const char* node_rank;
};
constexpr std::array<Launcher, 9> kLaunchers = {{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     nullptr},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", nullptr, nullptr},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr},
    {"PALS_RANKID", nullptr, "PALS_LOCAL_RANKID", nullptr, "PALS_NODEID"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", nullptr},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", nullptr, nullptr},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE", nullptr},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_NODEID"},
}};

// Slurm's batch script has SLURM_PROCID, too, but no numeric SLURM_STEP_ID.
bool usable(const Launcher& launcher) {
  if (number_in_environment(launcher.rank) < 0) return false;
  return std::strcmp(launcher.rank, "SLURM_PROCID") != 0 || number_in_environment("SLURM_STEP_ID") >= 0;
}

void fill(int& value, const char* variable) {
  if (value < 0) value = number_in_environment(variable);
}

void fill_in(Rank& rank) {
  if (rank.node_rank < 0 && rank.world_size > 0 && rank.world_size == rank.local_world_size) rank.node_rank = 0;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  rank.host = host;
}

}  // namespace

Rank rank_from_environment() {
  Rank rank;
  for (const Launcher& launcher : kLaunchers) {
    if (!usable(launcher)) continue;
    if (rank.rank < 0) {
      rank.rank = number_in_environment(launcher.rank);
      rank.source = launcher.rank;
    }
    if (number_in_environment(launcher.rank) != rank.rank) continue;
    fill(rank.world_size, launcher.world_size);
    fill(rank.local_rank, launcher.local_rank);
    fill(rank.local_world_size, launcher.local_world_size);
    fill(rank.node_rank, launcher.node_rank);
  }
  // Ray and Lightning set NODE_RANK instead of GROUP_RANK.
  if (rank.source == kLaunchers[0].rank) fill(rank.node_rank, "NODE_RANK");
  fill_in(rank);
  return rank;
}

Rank rank_from_program(int told, int world_size, const char* source) {
  Rank rank;
  rank.rank = told;
  rank.world_size = world_size;
  rank.source = source;
  const int said = number_in_environment("WORLD_SIZE");
  if (said < 0 || said == world_size) {
    fill(rank.local_rank, "LOCAL_RANK");
    fill(rank.local_world_size, "LOCAL_WORLD_SIZE");
    fill(rank.node_rank, "GROUP_RANK");
    fill(rank.node_rank, "NODE_RANK");
  }
  fill_in(rank);
  return rank;
}

std::vector<std::string> rank_contradictions(const Rank& actual) {
  std::vector<std::string> found;
  for (const Launcher& launcher : kLaunchers) {
    const int value = number_in_environment(launcher.rank);
    if (usable(launcher) && value != actual.rank)
      found.push_back(std::string(launcher.rank) + "=" + std::to_string(value));
  }
  return found;
}

}  // namespace profshim
