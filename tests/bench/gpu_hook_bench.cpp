#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "bench/costs.h"

int main() {
  using profshim::bench::Costs;
  const auto run = [](const std::string& environment) { return profshim::bench::run(environment, "gpu_cost"); };
  char folder[] = "/tmp/profshim-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string preload =
      "env LD_PRELOAD=" PROFSHIM_BUILD_DIR "/libprofshim.so PROFSHIM_FOLDER=" + std::string(folder) +
      "/{pid} PROFSHIM_LOG=quiet RANK=0 WORLD_SIZE=1 ";
  const Costs bare = run("env");
  const Costs inert = run(preload + "PROFSHIM_RANKS=7");
  const Costs idle = run(preload + "PROFSHIM_SET='steps.source=nvtx steps.pattern=never_*'");
  const Costs recording = run(preload + "PROFSHIM_SET='steps.source=none'");

  const double floor = recording.at("floor");
  std::printf("floor: %.1f ns; every figure below is shim minus bare in ns, and in floors\n", floor);
  std::printf("%-28s %10s %18s %18s %18s\n", "call", "bare", "rank not selected", "not recording", "recording");
  constexpr std::pair<const char*, const char*> kCalls[] = {{"launch", "cudaLaunchKernel"},
                                                            {"allreduce", "ncclAllReduce"},
                                                            {"group", "ncclGroupStart + GroupEnd"},
                                                            {"in_group", "the same with two collectives"}};
  for (const auto& [name, what] : kCalls) {
    const double base = bare.at(name);
    std::printf("%-30s %5.1f ns %+13.1f ns %+13.1f ns %+8.1f ns = %4.2f x\n", what, base, inert.at(name) - base,
                idle.at(name) - base, recording.at(name) - base, (recording.at(name) - base) / floor);
  }
  std::filesystem::remove_all(folder);
}
