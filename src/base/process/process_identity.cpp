#include "profshim/base/process_identity.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

// Returns the fields of /proc/PID/stat from 3 on: field 2, the name, may hold spaces and brackets. The path has
// "./", because qemu's user mode fakes its own file, with another start time (is_proc_myself).
std::string stat_fields(int pid) {
  std::string text;
  int error = 0;
  if (!read_file("/proc/./" + std::to_string(pid) + "/stat", text, error)) return {};
  const std::size_t bracket = text.rfind(')');
  return bracket == std::string::npos ? std::string{} : text.substr(bracket + 1);
}

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

std::string word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
  return text.empty() ? "-" : text;
}

bool is_on_this_machine(const ProcessIdentity& identity, const ProcessIdentity& own) {
  // Two machines may share a host name; containers of one machine have different names.
  if (!identity.boot_id.empty() && !own.boot_id.empty()) return identity.boot_id == own.boot_id;
  return identity.host == own.host;
}

}  // namespace

std::uint64_t process_start_time(int pid) {
  const std::string fields = stat_fields(pid);
  const char* at = fields.c_str();
  bool main_thread_ended = false;
  for (int field = 3; field <= 22; ++field) {
    while (*at == ' ') ++at;
    if (field == 3) main_thread_ended = *at == 'Z' || *at == 'X';
    // A zombie, which may stay forever in a container, counts as ended. After pthread_exit() in main, other threads run
    // on: field 20 counts them.
    if (field == 20 && main_thread_ended && leading_number<long>(at) <= 1) return 0;
    if (field == 22) return leading_number<std::uint64_t>(at);
    while (*at != 0 && *at != ' ') ++at;
  }
  return 0;
}

int parent_process(int pid) {
  const std::string fields = stat_fields(pid);
  return fields.size() > 3 ? leading_number<int>(std::string_view(fields).substr(3)) : 0;  // " S PPID ..."
}

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
  if (!parse_number(words[1], identity.pid) || !parse_number(words[2], identity.start_time)) return false;
  if (words.size() == 3) return true;
  if (words[4] != "-") identity.boot_id = words[4];
  return parse_number(words[3], identity.pid_namespace);
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
    // The mount option hidepid hides processes of other users, and of our own if they are not dumpable.
    const bool hidden = stat_fields(identity.pid).empty() && (kill(identity.pid, 0) == 0 || errno == EPERM);
    if (!hidden) return Life::kDead;
  }
  return std::abs(now_ns - last_sign_ns) < kSilentFor_ns ? Life::kAlive : Life::kDead;
}

}  // namespace profshim
