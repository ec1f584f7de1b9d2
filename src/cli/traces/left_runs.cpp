#include "left_runs.h"

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "cli/plural.h"
#include "profshim/base/printable.h"
#include "profshim/base/size_text.h"
#include "profshim/write/recover.h"

namespace profshim::cli {
namespace {

namespace fs = std::filesystem;

/// "profshim recover --into NEW_FOLDER FILE... (heat-4711, 18.5 MiB; its folder /out is gone)"
std::string recover_command(const std::vector<write::LeftSpool>& run) {
  std::uint64_t bytes = 0;
  std::string command = "profshim recover --into NEW_FOLDER";
  for (const write::LeftSpool& spool : run) {
    bytes += spool.bytes;
    command += " " + spool.path;
  }
  std::error_code error;
  const char* const why = fs::exists(run.front().folder, error) ? " holds another run" : " is gone";
  return command + "  (" + run.front().run_name + ", " + format_size(bytes) + "; its folder " + run.front().folder +
         why + ")";
}

}  // namespace

void print_left_runs(std::FILE* to, const std::set<std::string>& folders) {
  constexpr std::size_t kMostSpools = 4096;
  for (const std::string& folder : folders) {
    std::map<std::pair<std::string, std::string>, std::vector<write::LeftSpool>> left;  // by run id and folder
    for (write::LeftSpool& spool : write::spools_without_run(folder, kMostSpools))
      left[{spool.run_id, spool.folder}].push_back(std::move(spool));
    if (left.empty()) continue;
    std::fprintf(to, "%s in %s:%s", plural(left.size(), "unrecovered run").c_str(), printable(folder).c_str(),
                 left.size() == 1 ? " " : "\n");
    for (const auto& [key, run] : left)
      std::fprintf(to, "%s%s\n", left.size() == 1 ? "" : "  ", printable(recover_command(run)).c_str());
  }
}

}  // namespace profshim::cli
