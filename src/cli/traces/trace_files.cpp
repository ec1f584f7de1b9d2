#include "trace_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "profshim/base/text/message_text.h"
#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"

namespace profshim::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".pt.trace.json";

std::string_view without_gz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

bool is_manifest_name(std::string_view name) { return name.starts_with("manifest-rank") && name.ends_with(".json"); }

/// True for a path outside the manifest's folder: manifests can name any path.
bool leads_out(const fs::path& file) {
  return file.is_absolute() || std::find(file.begin(), file.end(), fs::path("..")) != file.end();
}

std::map<std::string, std::string> traces_in_manifests(const std::string& folder) {
  std::map<std::string, std::string> result;
  for (const run::Manifest& manifest : run::read_manifests(folder)) {
    for (const run::ManifestWindow& window : manifest.windows) {
      std::error_code error;
      if (window.status != "written" || window.file.empty() || leads_out(window.file)) continue;
      const fs::path path = fs::path(folder) / window.file;
      if (!fs::is_regular_file(path, error)) continue;
      const bool has_steps = window.first_step <= window.last_step;
      result[path.lexically_normal().string()] =
          has_steps ? std::to_string(window.first_step) : "window " + std::to_string(window.window);
    }
  }
  return result;
}

/// Traces that a view of a folder leaves out unless they are asked for.
struct Special {
  std::set<std::string> of_phases;
  std::map<int, std::set<std::string>> of_attempts;  // of run folders with several attempts
};

/// Adds what the manifests of the folder say of its traces.
void add_special_traces(const std::string& folder, Special& special) {
  std::map<int, std::set<std::string>> attempts;
  for (const run::Manifest& manifest : run::read_manifests(folder)) {
    for (const run::ManifestWindow& window : manifest.windows) {
      if (window.file.empty()) continue;
      const std::string path = (fs::path(folder) / window.file).lexically_normal().string();
      if (!window.phase.empty()) special.of_phases.insert(path);
      attempts[window.attempt].insert(path);
    }
  }
  if (attempts.size() < 2) return;
  for (auto& [attempt, paths] : attempts) special.of_attempts[attempt].merge(paths);
}

/// Call only on the main thread: the cache of manifests is not locked.
std::string window_in_manifests(const std::string& path) {
  static std::map<std::string, std::map<std::string, std::string>> known;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  for (fs::path folder = whole.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const auto [at, is_new] = known.try_emplace(folder.string());
    if (is_new) at->second = traces_in_manifests(folder.string());
    if (const auto found = at->second.find(whole.string()); found != at->second.end()) {
      return folder.string() + "/" + found->second;
    }
    if (folder == folder.parent_path()) break;
  }
  return {};
}

std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread, Special& special);

/// A phase's window repeats events of the windows of steps: both together would count these twice.
void leave_out_phases(const std::string& folder, const std::set<std::string>& of_phases,
                      std::vector<std::string>& traces) {
  const auto is_of_phase = [&](const std::string& path) {
    return of_phases.contains(fs::path(path).lexically_normal().string());
  };
  const auto count = std::count_if(traces.begin(), traces.end(), is_of_phase);
  if (count == 0 || count == static_cast<std::ptrdiff_t>(traces.size())) return;
  std::erase_if(traces, is_of_phase);
  std::fprintf(stderr, "profshim: %s: left out %td trace%s of phases; name them or their folders to read them\n",
               printable(folder).c_str(), count, count == 1 ? "" : "s");
}

/// torchrun has started all ranks again (--max-restarts): ranks of two attempts have never met.
void leave_out_attempts(const std::string& folder, const Special& special, int wanted,
                        std::vector<std::string>& traces) {
  if (special.of_attempts.empty()) return;
  if (wanted < 0) wanted = special.of_attempts.rbegin()->first;
  for (const auto& [attempt, paths] : special.of_attempts) {
    if (attempt == wanted) continue;
    const auto count = std::erase_if(traces, [&of_attempt = paths](const std::string& path) {
      return of_attempt.contains(fs::path(path).lexically_normal().string());
    });
    if (count == 0) continue;
    std::fprintf(stderr,
                 "profshim: %s: attempt %d left out: %zu trace%s; name them, or give summary, report or merge "
                 "--attempt %d\n",
                 printable(folder).c_str(), attempt, count, count == 1 ? "" : "s", attempt);
  }
}

}  // namespace

bool is_trace_name(std::string_view name) { return !name.starts_with('.') && without_gz(name).ends_with(kEnding); }

std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread) {
  Special special;
  return traces_below(folder, unread, special);
}

namespace {

std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread, Special& special) {
  std::vector<std::string> result, to_do = {folder};
  while (!to_do.empty()) {
    bool has_manifests = false;
    const std::string current = std::move(to_do.back());
    to_do.pop_back();
    std::error_code error, none;
    fs::directory_iterator it(current, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      const bool is_link = it->is_symlink(none);
      has_manifests = has_manifests || is_manifest_name(it->path().filename().string());
      if (!is_link && it->is_directory(none)) {
        to_do.push_back(it->path().string());
      } else if (is_trace_name(it->path().filename().string()) && (is_link || it->is_regular_file(none))) {
        result.push_back(it->path().string());
      }
    }
    if (error) unread.push_back(current + ": " + error_text(error.value()));
    if (!has_manifests) continue;
    add_special_traces(current, special);
    for (const auto& [path, window] : traces_in_manifests(current)) {
      if (!is_trace_name(fs::path(path).filename().string())) result.push_back(path);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

bool collect_traces(const std::vector<std::string>& paths, std::vector<std::string>& files, bool with_all,
                    int attempt) {
  bool all = true;
  std::set<fs::path> seen;
  const auto add = [&](const std::string& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (error || seen.insert(real).second) files.push_back(file);
  };
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      std::vector<std::string> unread;
      Special special;
      std::vector<std::string> below = traces_below(path, unread, special);
      if (!with_all) {
        leave_out_attempts(path, special, attempt, below);
        leave_out_phases(path, special.of_phases, below);
      }
      for (const std::string& line : unread) std::fprintf(stderr, "profshim: %s\n", printable(line).c_str());
      if (below.empty() && unread.empty()) {
        std::fprintf(stderr,
                     "profshim: %s: contains no *.pt.trace.json, no *.pt.trace.json.gz and no manifest with traces\n",
                     printable(path).c_str());
      }
      all = all && !below.empty() && unread.empty();
      for (const std::string& file : below) add(file);
    } else if (fs::exists(path, error)) {
      add(path);
    } else {
      std::fprintf(stderr, "profshim: %s: no such file or folder\n", printable(path).c_str());
      all = false;
    }
  }
  return all;
}

std::string window_of(const std::string& path) {
  if (!without_gz(path).ends_with(kEnding)) {
    if (std::string window = window_in_manifests(path); !window.empty()) return window;
  }
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  std::string_view name = without_gz(std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1));
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  const std::string_view number = name.substr(name.find_last_not_of("0123456789") + 1);
  const bool numbered = number.size() < name.size() && name[name.size() - number.size() - 1] == '.';
  return folder + (numbered ? "/" + std::string(number) : "");
}

namespace {

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
