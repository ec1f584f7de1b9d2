// run() reads the "NAME NANOSECONDS" lines that a benchmark program prints.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace profshim::bench {

using Costs = std::map<std::string, double>;

inline Costs run(const std::string& environment, const std::string& program) {
  Costs costs;
  const std::string command =
      environment + " OMPI_MCA_btl=self,vader " PROFSHIM_BUILD_DIR "/bench/" + program + " 2>/dev/null";
  // A process may get unfavorable memory pages, so the best of three runs counts.
  for (int i = 0; i < 3; ++i) {
    std::FILE* const out = popen(command.c_str(), "r");
    if (out == nullptr) std::exit(1);
    char name[64];
    double ns = 0;
    while (std::fscanf(out, "%63s %lf", name, &ns) == 2) {
      const auto known = costs.find(name);
      if (known == costs.end() || ns < known->second) costs[name] = ns;
    }
    if (pclose(out) != 0) std::exit(1);
  }
  return costs;
}

}  // namespace profshim::bench
