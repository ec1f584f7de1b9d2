#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "bench/costs.h"

int main() {
  using profshim::bench::Costs;
  const auto run = [](const std::string& environment) { return profshim::bench::run(environment, "hook_cost"); };
  char folder[] = "/tmp/profshim-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string preload =
      "env LD_PRELOAD=" PROFSHIM_BUILD_DIR "/libprofshim.so PROFSHIM_FOLDER=" + std::string(folder) +
      "/{pid} PROFSHIM_LOG=quiet ";
  const Costs bare = run("env");
  const Costs inert = run(preload + "PROFSHIM_RANKS=7");
  const Costs idle = run(preload + "PROFSHIM_SET='steps.source=nvtx steps.pattern=never_*'");
  const Costs recording = run(preload + "PROFSHIM_SET='steps.source=none'");
  const Costs stepping =
      run(preload + "PROFSHIM_SET='steps.source=time steps.every_ms=100000 schedule.skip_first=0 schedule.warmup=0'");

  const double floor = recording.at("floor");
  std::printf(
      "floor (two clock reads and a 64-byte store): %.1f ns; every figure below is shim minus bare in ns, and in "
      "floors\n",
      floor);
  std::printf("%-28s %10s %18s %18s %18s\n", "call", "bare", "rank not selected", "not recording", "recording");
  constexpr std::pair<const char*, const char*> kCalls[] = {{"nvtx", "NVTX push + pop"},
                                                            {"plain", "MPI_Send to nobody"},
                                                            {"barrier", "MPI_Barrier"},
                                                            {"collective", "MPI_Allreduce, all arguments"},
                                                            {"poll", "MPI_Test, nothing yet"},
                                                            {"lookup_other", "dlsym by a handle"},
                                                            {"lookup_hooked", "the same of MPI_Barrier"}};
  for (const auto& [name, what] : kCalls) {
    const double base = bare.at(name);
    std::printf("%-28s %7.1f ns %+13.1f ns %+13.1f ns %+8.1f ns = %4.2f x\n", what, base, inert.at(name) - base,
                idle.at(name) - base, recording.at(name) - base, (recording.at(name) - base) / floor);
  }
  std::printf("recording with another step source: NVTX %.2f x, MPI_Allreduce %.2f x\n",
              (stepping.at("nvtx") - bare.at("nvtx")) / floor,
              (stepping.at("collective") - bare.at("collective")) / floor);
  std::filesystem::remove_all(folder);
}
