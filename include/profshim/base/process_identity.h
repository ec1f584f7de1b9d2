// The identity of a process, and whether it lives: one rule for claims, spools and `recover`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim {

/// A process, told apart from all others of all machines and containers.
struct ProcessIdentity {
  std::string host;
  int pid = 0;                      // in its own PID namespace
  std::uint64_t start_time = 0;     // clock ticks since boot; 0 = there was no /proc to read it from
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0 = not known
  std::string boot_id;              // "" = not known

  bool operator==(const ProcessIdentity&) const = default;
};

/// This process.
ProcessIdentity own_identity();

/// "node7 4711 123456 4026531836 0b4f...": one line without its end, for claims and spools.
std::string to_text(const ProcessIdentity& identity);
/// False when the text is none. Reads the shorter form of earlier versions as well (host, PID, start time).
bool parse_identity(std::string_view text, ProcessIdentity& identity);

enum class Life : std::uint8_t { kAlive, kDead };

/// A process that has given no sign for so long, and cannot be looked at, counts as dead.
inline constexpr std::int64_t kSilentFor_ns = 30'000'000'000;

/// On one machine and in one PID namespace, the process itself is looked at: its number and start time decide.
/// Elsewhere (another host, another container, no /proc, hidepid) its last sign of life decides: younger than
/// kSilentFor_ns = alive. Both times are since the epoch, by one clock. Any thread.
Life life_of(const ProcessIdentity& identity, std::int64_t last_sign_ns, std::int64_t now_ns);

/// Can the process be looked at from here? Else only its last sign of life is known.
bool can_be_seen(const ProcessIdentity& identity);

}  // namespace profshim
