#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim {

/// Unique among all machines and containers.
struct ProcessIdentity {
  std::string host;
  int pid = 0;                      // in its own PID namespace
  std::uint64_t start_time = 0;     // clock ticks since boot; 0 = unknown
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0 = unknown
  std::string boot_id;              // "" = unknown

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity own_identity();

/// Returns "node7 4711 123456 4026531836 0b4f...".
std::string to_text(const ProcessIdentity& identity);
/// Also parses the earlier form of to_text(): host, PID, start time.
bool parse_identity(std::string_view text, ProcessIdentity& identity);

enum class Life : std::uint8_t { kAlive, kDead };

inline constexpr std::int64_t kSilentFor_ns = 30'000'000'000;

/// A process of our machine and PID namespace is alive if /proc shows its PID with its start time. If /proc cannot tell
/// (other host or container, no /proc, hidepid), it is alive if its last sign of life is younger than kSilentFor_ns.
/// Both times are since the epoch, by the same clock. Thread-safe.
Life life_of(const ProcessIdentity& identity, std::int64_t last_sign_ns, std::int64_t now_ns);

/// True if the process is of our machine and PID namespace: /proc shows it, unless hidepid hides it.
bool can_be_seen(const ProcessIdentity& identity);

/// Clock ticks since boot (/proc/PID/stat, field 22); 0 for a zombie or no process.
std::uint64_t process_start_time(int pid);
/// 0 = unknown.
int parent_process(int pid);

}  // namespace profshim
