#include <algorithm>
#include <array>

#include "profshim/base/text/ascii.h"
#include "profshim/base/text/message_text.h"
#include "profshim/spec/name_pattern.h"

namespace profshim {
namespace {

/// A run has one folder, so variables of a window belong in the file name.
constexpr std::array<std::string_view, 6> kOfWindow = {"occurrence", "step",   "first_step",
                                                       "last_step",  "window", "epoch"};

bool is_cloud_address(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) { return ascii::is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; });
}

std::string check_variable(std::string_view name, bool is_folder) {
  const auto& known = pattern_variables();
  const std::string shown = "{" + std::string(name.substr(0, 40)) + "}";
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string_view near = nearest(name, known);
    if (!near.empty()) return "unknown variable " + shown + "; did you mean {" + std::string(near) + "}?";
    std::string all;
    for (const std::string_view variable : known) all += (all.empty() ? "" : ", ") + std::string(variable);
    return "unknown variable " + shown + "; known: " + all;
  }
  if (is_folder && std::find(kOfWindow.begin(), kOfWindow.end(), name) != kOfWindow.end()) {
    return shown +
           " differs from window to window, and a run has one folder; use it in output.filename, which may name "
           "sub-folders";
  }
  return "";
}

constexpr std::size_t kLongestName = 255;

std::string check_parts(std::string_view pattern) {
  std::size_t fixed = 0;
  bool in_variable = false;
  for (const char c : pattern) {
    if (c == '/') fixed = 0;
    if (c == '{') in_variable = true;
    if (c != '/' && !in_variable) ++fixed;
    if (c == '}') in_variable = false;
    if (fixed > kLongestName) return "a file or folder name is longer than 255 bytes, the limit of file systems";
  }
  return "";
}

std::string check_filename(std::string_view pattern) {
  if (pattern.front() == '/') return "a file name cannot be absolute; set output.folder instead";
  if (pattern.back() == '/') return "a file name is missing after the last \"/\"";
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t end = std::min(pattern.find('/', begin), pattern.size());
    if (pattern.substr(begin, end - begin) == "..") return "\"..\" would leave output.folder";
    begin = end + 1;
  }
  return "";
}

}  // namespace

const std::vector<std::string_view>& pattern_variables() {
  static const auto& kVariables = *new std::vector<std::string_view>{
      "run_name", "rank",       "local_rank", "world_size", "local_world_size", "node_rank", "host",  "pid",
      "phase",    "occurrence", "step",       "first_step", "last_step",        "window",    "epoch", "time",
      "time_ns",  "job_id",     "role"};
  return kVariables;
}

std::string check_pattern(std::string_view pattern, bool is_folder) {
  if (pattern.empty())
    return is_folder ? "the path is missing; write \".\" for the current folder" : "the file name is missing";
  if (is_cloud_address(pattern)) {
    return "traces are written to a local folder, not to an address like \"" + std::string(pattern.substr(0, 60)) +
           "\"; copy them after the job";
  }
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '}') return "\"}\" without \"{\"";
    if (pattern[at] != '{') continue;
    const std::size_t end = pattern.find_first_of("{}", at + 1);
    if (end == std::string_view::npos || pattern[end] == '{') return "\"{\" is not closed";
    std::string problem = check_variable(pattern.substr(at + 1, end - at - 1), is_folder);
    if (!problem.empty()) return problem;
    at = end;
  }
  if (std::string problem = check_parts(pattern); !problem.empty()) return problem;
  if (!is_folder) return check_filename(pattern);
  // Only a shell expands ~, and only outside of quotes.
  if (pattern.front() == '~')
    return "\"~\" is not the home folder here; write the path in full, or \"./~\" for a folder named ~";
  return "";
}

}  // namespace profshim
