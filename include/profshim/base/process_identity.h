// The identity of a process, and the rule by which claims, spools and `recover` decide whether it is alive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim {

/// Identifies a process among all machines and containers.
struct ProcessIdentity {
  std::string host;
  int pid = 0;                      // in its own PID namespace
  std::uint64_t start_time = 0;     // clock ticks since boot; 0 = not known
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0 = not known
  std::string boot_id;              // "" = not known

  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of this process.
ProcessIdentity own_identity();

/// Returns "node7 4711 123456 4026531836 0b4f...", without a newline, for claims and spools.
std::string to_text(const ProcessIdentity& identity);
/// Returns false if the text is not an identity. Also accepts the form of earlier versions: host, PID, start time.
bool parse_identity(std::string_view text, ProcessIdentity& identity);

enum class Life : std::uint8_t { kAlive, kDead };

/// A process that cannot be seen counts as dead after this time without a sign of life.
inline constexpr std::int64_t kSilentFor_ns = 30'000'000'000;

/// Returns whether the process is alive. If can_be_seen(), its number and start time decide. Otherwise (another host,
/// another container, no /proc, hidepid) it counts as alive if its last sign of life is younger than kSilentFor_ns.
/// Both times are since the epoch, by the same clock. Any thread.
Life life_of(const ProcessIdentity& identity, std::int64_t last_sign_ns, std::int64_t now_ns);

/// Returns true if /proc of this process shows the other process: same machine and PID namespace.
bool can_be_seen(const ProcessIdentity& identity);

/// Returns the clock ticks since boot at which the process started (/proc/PID/stat, field 22); 0 if it does not exist
/// or is a zombie.
std::uint64_t process_start_time(int pid);
/// Returns the PID of the parent; 0 if it is not known.
int parent_process(int pid);

}  // namespace profshim
