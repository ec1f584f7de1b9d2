#include "trace_groups.h"

#include <cstdio>
#include <filesystem>
#include <map>

#include "profshim/base/printable.h"
#include "profshim/run/run_folder.h"

namespace profshim::cli {
namespace {

namespace fs = std::filesystem;

/// Finds the run folder around a trace.
class RunFolders {
 public:
  void find(TraceHead& trace) {
    std::error_code error;
    const fs::path whole = fs::absolute(trace.path, error).lexically_normal();
    for (fs::path folder = whole.parent_path(); !folder.empty(); folder = folder.parent_path()) {
      const auto [at, is_new] = launches_.try_emplace(folder.string());
      if (is_new) at->second = run::launch_of(folder.string());
      if (!at->second.empty()) {
        trace.folder = folder.string();
        trace.launch = at->second;
        return;
      }
      if (folder == folder.parent_path()) return;
    }
  }

 private:
  std::map<std::string, std::string> launches_;  // by folder; "" = no run folder
};

}  // namespace

std::vector<TraceGroup> groups_of(const std::vector<std::string>& files, bool several_runs) {
  std::vector<TraceHead> heads;
  RunFolders folders;
  for (const std::string& file : files) {
    heads.push_back(files.size() > 1 ? read_trace_head(file) : TraceHead{.path = file});
    folders.find(heads.back());
  }
  return group_traces(heads, several_runs);
}

std::string group_heading(const TraceGroup& group, std::size_t number) {
  std::string text = "Group " + std::to_string(number) + ": " + group.title();
  if (!group.folder.empty()) text += ", in " + fs::path(group.folder).filename().string();
  return text;
}

bool refuse_groups(const std::string& command, const std::vector<TraceGroup>& groups) {
  if (groups.size() < 2) return false;
  std::fprintf(
      stderr,
      "profshim %s: these traces are of %zu groups of processes of one launch, whose ranks are unrelated; name "
      "the traces or the folder of one group:\n",
      command.c_str(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    std::fprintf(stderr, "  %s\n", printable(group_heading(groups[i], i)).c_str());
  return true;
}

}  // namespace profshim::cli
