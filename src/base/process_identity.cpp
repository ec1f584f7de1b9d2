#include "profshim/base/process_identity.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "profshim/base.h"
#include "profshim/base/safe_files.h"

namespace profshim {
namespace {

std::string read_boot_id() {
  std::string text;
  int error = 0;
  if (!read_small_file("/proc/sys/kernel/random/boot_id", 256, text, error)) return {};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::uint64_t own_pid_namespace() {
  struct stat s {};
  return stat("/proc/self/ns/pid", &s) == 0 ? s.st_ino : 0;
}

/// Without blanks: they separate the words.
std::string word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
  return text.empty() ? "-" : text;
}

template <class T>
bool number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool is_on_this_machine(const ProcessIdentity& identity, const ProcessIdentity& own) {
  // Two machines may bear one name; two containers of one machine bear two.
  if (!identity.boot_id.empty() && !own.boot_id.empty()) return identity.boot_id == own.boot_id;
  return identity.host == own.host;
}

}  // namespace

ProcessIdentity own_identity() {
  ProcessIdentity own;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  own.host = word(host);
  own.pid = getpid();
  own.start_time = process_start_time(own.pid);
  own.pid_namespace = own_pid_namespace();
  own.boot_id = read_boot_id();
  return own;
}

std::string to_text(const ProcessIdentity& identity) {
  return word(identity.host) + " " + std::to_string(identity.pid) + " " + std::to_string(identity.start_time) + " " +
         std::to_string(identity.pid_namespace) + " " + word(identity.boot_id);
}

bool parse_identity(std::string_view text, ProcessIdentity& identity) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  identity = {};
  if (words.size() != 3 && words.size() != 5) return false;
  identity.host = words[0];
  if (!number(words[1], identity.pid) || !number(words[2], identity.start_time)) return false;
  if (words.size() == 3) return true;
  if (words[4] != "-") identity.boot_id = words[4];
  return number(words[3], identity.pid_namespace);
}

bool can_be_seen(const ProcessIdentity& identity) {
  if (identity.pid <= 0 || identity.start_time == 0) return false;
  const ProcessIdentity own = own_identity();
  if (own.start_time == 0 || !is_on_this_machine(identity, own)) return false;
  const bool is_of_earlier_version = identity.pid_namespace == 0 && identity.boot_id.empty();
  return is_of_earlier_version || (identity.pid_namespace != 0 && identity.pid_namespace == own.pid_namespace);
}

Life life_of(const ProcessIdentity& identity, std::int64_t last_sign_ns, std::int64_t now_ns) {
  if (can_be_seen(identity)) {
    const std::uint64_t start_time = process_start_time(identity.pid);
    if (start_time != 0) return start_time == identity.start_time ? Life::kAlive : Life::kDead;
    // Gone, a zombie, or hidden by hidepid: which hides nothing that we may send a signal to.
    if (kill(identity.pid, 0) == 0 || errno != EPERM) return Life::kDead;
  }
  return std::abs(now_ns - last_sign_ns) < kSilentFor_ns ? Life::kAlive : Life::kDead;
}

}  // namespace profshim
