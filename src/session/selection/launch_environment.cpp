#include "launch_environment.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "profshim/base/text/ascii.h"
#include "profshim/session.h"

namespace profshim::session {

namespace {

char launch_folder[4096];  // "" = unknown

bool is_off(const char* value) {
  for (const char* off : {"0", "false", "no", "off"}) {
    if (ascii::equal_words(value, off)) return true;
  }
  return false;
}

/// True for variables of our own and for the switch of one hook.
bool asks_for_nothing(const char* variable) {
  for (const std::string_view name : {"PROFSHIM_ACTIVE=", "PROFSHIM_NCCL_PLUGIN=", "PROFSHIM_DLSYM="}) {
    if (std::string_view(variable).starts_with(name)) return true;
  }
  return false;
}

}  // namespace

bool requested() {
  static const bool answer = [] {
    bool any = false;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      if (std::strncmp(*variable, "PROFSHIM", 8) != 0) continue;
      if (std::strncmp(*variable, "PROFSHIM=", 9) == 0) {
        if (is_off(*variable + 9)) return false;
        any = true;
      } else if ((*variable)[8] == '_' && !asks_for_nothing(*variable)) {
        any = true;
      }
    }
    if (any && getcwd(launch_folder, sizeof launch_folder) == nullptr) launch_folder[0] = 0;
    return any;
  }();
  return answer;
}

std::string from_launch_folder(const std::string& path) {
  if (path.empty() || path[0] == '/' || launch_folder[0] == 0) return path;
  return std::string(launch_folder) + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

int attempt_of_torchrun() {
  const char* const text = std::getenv("TORCHELASTIC_RESTART_COUNT");
  int attempt = -1;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), attempt);
  return attempt;
}

}  // namespace profshim::session
