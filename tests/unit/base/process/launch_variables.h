#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace profshim::test {

/// Sets the given variables and removes all others that tell about ranks and launches, while it lives.
class Environment {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;
  explicit Environment(const Values& values) {
    for (const char* name : {"RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "GROUP_RANK",
                             "NODE_RANK",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "PMIX_RANK",
                             "PMI_RANK",
                             "PMI_SIZE",
                             "MPI_LOCALRANKID",
                             "MPI_LOCALNRANKS",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_STEP_ID",
                             "SLURM_LOCALID",
                             "SLURM_NODEID",
                             "SLURM_JOB_ID",
                             "SLURM_RESTART_COUNT",
                             "PBS_JOBID",
                             "LSB_JOBID",
                             "LSB_JOBINDEX",
                             "FLUX_JOB_ID",
                             "PALS_APID",
                             "MASTER_ADDR",
                             "MASTER_PORT",
                             "PMIX_NAMESPACE",
                             "TORCHELASTIC_RUN_ID"}) {
      if (const char* before = std::getenv(name)) before_[name] = before;
      unsetenv(name);
      touched_.push_back(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const std::string& name : touched_) {
      const auto before = before_.find(name);
      if (before == before_.end()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), before->second.c_str(), 1);
      }
    }
  }

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> touched_;
};

}  // namespace profshim::test
