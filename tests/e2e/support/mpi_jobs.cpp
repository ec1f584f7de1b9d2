#include "mpi_jobs.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <sstream>

#include "built_programs.h"

namespace profshim::e2e {

std::string to_string(Mpi mpi) { return mpi == Mpi::kOpenMpi ? "openmpi" : "mpich"; }

Job mpirun(Mpi mpi, int ranks, const std::vector<std::string>& command) {
  Job job;
  if (mpi == Mpi::kOpenMpi) {
    job.command = {"mpirun.openmpi", "--oversubscribe", "--bind-to", "none"};
    // "self,vader" uses no network. RMA windows need vader's direct copies between processes.
    job.environment = {{"OMPI_MCA_btl", "self,vader"}};
    if (geteuid() == 0) {
      job.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
      job.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
  } else {
    job.command = {"mpirun.mpich"};
    job.environment = {{"HYDRA_IFACE", "lo"}};  // without it, Hydra asks the DNS
  }
  job.command.push_back("-n");
  job.command.push_back(std::to_string(ranks));
  job.command.insert(job.command.end(), command.begin(), command.end());
  return job;
}

std::vector<Mpi> installed_mpis() {
  std::vector<Mpi> found;
  if (on_path("mpirun.openmpi")) found.push_back(Mpi::kOpenMpi);
  if (on_path("mpirun.mpich")) found.push_back(Mpi::kMpich);
  EXPECT_FALSE(found.empty()) << "no mpirun.openmpi and no mpirun.mpich: scripts/install_deps.sh --test";
  return found;
}

std::map<int, std::map<std::string, int>> printed_counts(const std::string& out) {
  std::map<int, std::map<std::string, int>> counts;
  std::stringstream text(out);
  for (std::string line; std::getline(text, line);) {
    rapidjson::Document d;
    d.Parse(line.c_str(), line.size());
    if (d.HasParseError() || !d.IsObject() || !d.HasMember("rank") || !d.HasMember("function") || !d.HasMember("count"))
      continue;
    counts[d["rank"].GetInt()][d["function"].GetString()] += d["count"].GetInt();
  }
  return counts;
}

std::string record_all_spec(const std::string& folder) {
  return "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"none\"\n[output]\nfolder = \"" + folder +
         "\"\ngzip = false\n";
}

}  // namespace profshim::e2e
