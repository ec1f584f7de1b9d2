#include "last_thread.h"

#include <dirent.h>

#include <algorithm>
#include <string>

#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"

namespace profshim::session {
namespace {

char state_in(const std::string& stat_file) {
  std::string text;
  int error = 0;
  if (!read_file(stat_file, text, error)) return 0;
  const std::size_t bracket = text.rfind(')');
  return bracket == std::string::npos || bracket + 2 >= text.size() ? 0 : text[bracket + 2];
}

bool has_ended(char state) { return state == 0 || state == 'Z' || state == 'X'; }

}  // namespace

bool only_ours_are_left(std::span<const pid_t> ours) {
  // /proc/self/stat shows the main thread.
  if (!has_ended(state_in("/proc/self/stat"))) return false;
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  bool only_ours = true;
  while (const dirent* const entry = readdir(tasks)) {
    const auto tid = leading_number<pid_t>(entry->d_name);
    if (tid <= 0 || std::find(ours.begin(), ours.end(), tid) != ours.end()) continue;
    only_ours = only_ours && has_ended(state_in("/proc/self/task/" + std::to_string(tid) + "/stat"));
  }
  closedir(tasks);
  return only_ours;
}

}  // namespace profshim::session
