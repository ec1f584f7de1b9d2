#include "profshim/write/retention.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "profshim/base/files.h"

namespace profshim::write {
namespace {

/// Only regular files of this user, in folders that open_folder_below() trusts.
void remove_file(int folder, const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string below = slash == std::string::npos ? "" : name.substr(0, slash);
  const std::string file = name.substr(slash == std::string::npos ? 0 : slash + 1);
  {
    const Descriptor parent = open_folder_below(folder, below);
    struct stat found {};
    if (!parent || fstatat(parent.get(), file.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!S_ISREG(found.st_mode) || found.st_uid != geteuid()) return;
    remove_if_same(parent.get(), file, found);
  }
  // Fails while the folder has other files. AtomicFile makes it again if another rank needs it.
  for (std::string up = below; !up.empty() && unlinkat(folder, up.c_str(), AT_REMOVEDIR) == 0;) {
    const std::size_t end = up.rfind('/');
    up.erase(end == std::string::npos ? 0 : end);
  }
}

}  // namespace

std::vector<run::ManifestWindow> take_old(const Spec& spec, std::vector<run::ManifestWindow>& windows) {
  const std::int64_t most = spec.output.traces_to_keep;
  const std::uint64_t most_bytes = spec.output.keep_bytes;
  std::vector<run::ManifestWindow> kept, old;
  std::map<std::string_view, std::int64_t> traces;
  std::uint64_t bytes = 0;
  bool is_newest = true, is_full = false;
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    const bool has_trace = !window->file.empty() && window->status == "written";
    if (has_trace) {
      const bool too_many = most > 0 && ++traces[window->phase] > most;
      // Once a trace does not fit, older ones go, too: the kept ones are the newest.
      is_full = is_full || (most_bytes > 0 && bytes + window->bytes > most_bytes && !is_newest);
      is_newest = false;
      if ((too_many || is_full) && !window->awaits_finish) {
        old.push_back(*window);
        continue;
      }
      bytes += window->bytes;
    }
    kept.push_back(*window);
  }
  std::reverse(kept.begin(), kept.end());
  windows = std::move(kept);
  return old;
}

void remove_files(const std::string& folder, const std::vector<run::ManifestWindow>& windows) {
  if (windows.empty()) return;
  const Descriptor top = open_folder(folder);
  if (!top) return;
  for (const run::ManifestWindow& window : windows) {
    for (const std::string& file : run::files_of(window)) remove_file(top.get(), file);
  }
}

}  // namespace profshim::write
